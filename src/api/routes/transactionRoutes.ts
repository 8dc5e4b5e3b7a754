import { transactionSubject } from '../../approvals/transactionSubject';
import { BASE_PATH } from '../../contract/endpoint';
import {
  changeReferencesEndpoint,
  createTransactionEndpoint,
  executeTransactionEndpoint,
  getTransactionEndpoint,
  listTransactionsEndpoint,
  type ShownTransaction,
  signTransactionEndpoint,
  simulateTransactionEndpoint,
} from '../../contract/transactionContract';
import type { TagColumn } from '../../db/approvalTags';
import type { Credential } from '../../db/credentials';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import type { StoredTransaction, TransactionSnapshot } from '../../db/storedTransactions';
import { pageOfTransactions, type TransactionFilter } from '../../db/transactionLists';
import { readTransaction } from '../../db/transactions';
import type { ApprovalRef } from '../../domain/approvalRef';
import { beyondLimits } from '../../domain/keyRights';
import { isMissing } from '../../domain/missingMember';
import { transactionRules } from '../../domain/transaction';
import { transactionView } from '../../domain/transactionView';
import { checkOpen } from '../../domain/voting';
import { permitTransaction } from '../../transactions/plan';
import { changeReferences } from '../../transactions/references';
import type { Cursors } from '../cursors';
import type { ApiDependencies } from '../dependencies';
import { type FilteredPage, filteredPage } from '../filteredPage';
import { requireNamed } from '../namedRecords';
import { page, pageRequest, parseInstant, requestFilters } from '../pages';
import { acceptOrThrow, notFound, Refused } from '../refusals';
import { mutationRoute, type Route, readRoute } from '../requestContext';
import { createSimulations } from '../simulations';
import { type ApprovalRouteDeps, approvalRoutes, requestApproval } from './approvalRoutes';

/** The dependencies of these routes. */
type Deps = ApprovalRouteDeps &
  Pick<ApiDependencies, 'config' | 'readToken' | 'simulate'> & { readonly cursors: Cursors };

/** Transactions per page by default. */
const DEFAULT_TRANSACTIONS = 100;
/** Bytes of calldata on one page: a response contains each of them several times. */
const MAX_PAGE_CALLDATA = 1_048_576;

function show({ record, now }: TransactionSnapshot): ShownTransaction {
  return transactionView(record, now) as ShownTransaction;
}

async function load(
  db: Db,
  organizationId: string,
  transactionId: string,
): Promise<TransactionSnapshot & TagColumn> {
  const found = await readTransaction(db, { organizationId, transactionId });
  if (!found) throw notFound('transaction');
  return found;
}

function locationOf(transactionId: string): string {
  return `${BASE_PATH}/transactions/${transactionId}`;
}

/** What is known of the chain changes without a new version: confirmations, or the block. */
function isCacheable({ chain }: StoredTransaction): boolean {
  return chain === null;
}

function listRoute({ db, cursors }: Deps): Route {
  return readRoute(listTransactionsEndpoint, async ({ organizationId, query }) => {
    const scope = { organizationId, list: 'transactions' };
    const { cursor, limit: asked, from, to, networkId, ...rest } = query;
    const given = {
      ...rest,
      networkId: networkId?.toString(),
      from: parseInstant(from),
      to: parseInstant(to),
    };
    const request = pageRequest(
      cursors,
      scope,
      { cursor, limit: asked },
      { ...given, recipient: given.recipient?.toLowerCase(), assetId: given.assetId?.toLowerCase() },
      DEFAULT_TRANSACTIONS,
    );
    const { before, filters, limit } = request;
    const { from: _, to: __, networkId: onNetwork, missingMemberId: maySign, ...exact } = filters;
    const filter: TransactionFilter = {
      // Its own fields, as the contract has checked them.
      ...(exact as Omit<TransactionFilter, 'from' | 'to' | 'limit'>),
      ...(onNetwork === undefined ? {} : { networkId: Number(onNetwork) }),
      ...(maySign === undefined ? {} : { maySign }),
      ...requestFilters(filters),
      organizationId,
      limit,
    };
    const read = (after = before) =>
      pageOfTransactions(
        db,
        { ...filter, ...(after === undefined ? {} : { before: after }) },
        MAX_PAGE_CALLDATA,
      );
    const found: FilteredPage<TransactionSnapshot> =
      maySign === undefined
        ? await read()
        : await filteredPage(limit, read, ({ record, now }) =>
            isMissing(transactionRules, record, now, maySign),
          );
    const { snapshots, hasMore, reached } = found;
    if (snapshots.length === 0) await requireNamed(db, organizationId, filters);
    const rows = snapshots.map((snapshot) => ({ ...snapshot, position: snapshot.record.position }));
    return page(cursors, scope, request, rows, show, hasMore, reached);
  });
}

/** Refuses a transaction that an API key is not for. */
function assertWithinLimits(
  credential: Credential,
  transaction: { readonly accountId: string; readonly networkId: number },
): void {
  const refusal = credential.kind === 'apiKey' && beyondLimits(credential.rights, transaction);
  if (refusal) throw new Refused(refusal);
}

function createRoute(deps: Deps): Route {
  const { db, config, readToken } = deps;
  const reads = { db, networks: config.networks, readToken };
  return mutationRoute(createTransactionEndpoint, {
    async check({ organizationId, body, credential }) {
      assertWithinLimits(credential, body);
      acceptOrThrow(await permitTransaction(reads, organizationId, body));
      return { resourceId: newId('txn') };
    },
    async send(
      { organizationId, body, credential },
      { id: requestId, resourceId: id, createdAt: requestedAt },
    ) {
      // The request may be one that another key has sent.
      assertWithinLimits(credential, body);
      const { accountId, networkId } = body;
      const ref: ApprovalRef = { subject: 'transaction', organizationId, id };
      const request = { requestId, requestedAt, accountIds: [accountId], networkIds: [networkId] };
      const created = await requestApproval(deps, ref, request, () =>
        readTransaction(db, { organizationId, transactionId: id }),
      );
      return { body: { data: show(created) }, location: locationOf(id) };
    },
    async show({ organizationId }, id) {
      return { body: { data: show(await load(db, organizationId, id)) }, location: locationOf(id) };
    },
  });
}

function referencesRoute({ db }: Deps): Route {
  return mutationRoute(changeReferencesEndpoint, {
    async check({ organizationId, params, credential }) {
      const { record } = await load(db, organizationId, params.txId ?? '');
      assertWithinLimits(credential, record);
      return { resourceId: record.id };
    },
    async send({ organizationId, body: { metadata, tags }, credential }, { id: requestId, resourceId }) {
      const change = { ...(metadata ? { metadata } : {}), ...(tags ? { tags } : {}) };
      const { body, location } = acceptOrThrow(
        await changeReferences(
          db,
          { organizationId, transactionId: resourceId, requestId, credentialId: credential.id, change },
          (snapshot) => ({ status: 200, body: JSON.stringify({ data: show(snapshot) }), location: null }),
        ),
      );
      return { body: JSON.parse(body), location };
    },
  });
}

function simulationRoute({ db, simulate: simulateOne }: Deps): Route {
  const simulate = createSimulations(simulateOne);
  return readRoute(simulateTransactionEndpoint, async ({ organizationId, params }) => {
    const { record, now } = await load(db, organizationId, params.txId ?? '');
    acceptOrThrow(checkOpen('transaction', record, now.time));
    return { data: await simulate(record) };
  });
}

/** Everything about transactions of accounts. */
export function transactionRoutes(deps: Deps): Route[] {
  const { db } = deps;
  return [
    listRoute(deps),
    simulationRoute(deps),
    createRoute(deps),
    referencesRoute(deps),
    ...approvalRoutes(deps, {
      subject: transactionSubject,
      get: getTransactionEndpoint,
      sign: signTransactionEndpoint,
      execute: executeTransactionEndpoint,
      load: ({ organizationId, params }) => load(db, organizationId, params.txId ?? ''),
      workflowOf: ({ organizationId, params }) => ({
        subject: 'transaction',
        organizationId,
        id: params.txId ?? '',
      }),
      show,
      isCacheable,
      assertPermitted: ({ credential }, { record }) => assertWithinLimits(credential, record),
    }),
  ];
}
