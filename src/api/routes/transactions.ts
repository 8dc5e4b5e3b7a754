import { BASE_PATH } from '../../contract/endpoint';
import {
  createTransactionEndpoint,
  executeTransactionEndpoint,
  getTransactionEndpoint,
  listTransactionsEndpoint,
  type ShownTransaction,
  signTransactionEndpoint,
} from '../../contract/transactions';
import { findAccount } from '../../db/accounts';
import type { Db } from '../../db/database';
import { newId } from '../../db/ids';
import {
  pageOfTransactions,
  readTransaction,
  type TransactionSnapshot,
  transactionMessageWasTaken,
} from '../../db/transactions';
import type { Outcome } from '../../domain/refusal';
import {
  checkTransactionExecution,
  checkTransactionOpenTo,
  checkTransactionVote,
} from '../../domain/transaction';
import { transactionView } from '../../domain/transactionView';
import type { TransactionMessageOutcome } from '../../temporal/transactions';
import { identifyTransactionVoter, payloadToSign } from '../../transactions/voter';
import { mutationRoute, type RequestContext, type Route, readRoute } from '../context';
import type { Cursors } from '../cursors';
import { deliver } from '../deliver';
import type { ApiDependencies } from '../dependencies';
import type { WaitForExecution } from '../executionWaiter';
import { page, pageRequest } from '../pages';
import { acceptOrThrow, badRequest, notFound, Refused, unavailable } from '../refusals';
import { checkNewTransaction } from '../transactionRequests';

/** Transactions per page, unless the caller says otherwise. */
const DEFAULT_LIMIT = 100;
/** Bytes of calldata on one page: each stands several times in what is shown. */
const MAX_PAGE_CALLDATA = 1_048_576;

function view({ record, now }: TransactionSnapshot): ShownTransaction {
  return transactionView(record, now) as ShownTransaction;
}

/** Everything about transactions of accounts. */
export function transactionRoutes(
  options: { db: Db; cursors: Cursors; waitForTransaction: WaitForExecution } & Pick<
    ApiDependencies,
    'config' | 'transactions' | 'identifyVoter' | 'readToken'
  >,
): Route[] {
  const { db, cursors, waitForTransaction, transactions, identifyVoter } = options;

  async function load({ organizationId, params }: RequestContext): Promise<TransactionSnapshot> {
    const found = await readTransaction(db, { organizationId, transactionId: params.txId ?? '' });
    if (!found) throw notFound('transaction');
    return found;
  }

  /** Waits for what a message has set going, and shows the transaction as it is then. */
  async function settle(
    context: RequestContext,
    message: { id: string; resourceId: string },
    outcome: TransactionMessageOutcome,
    recheck: (snapshot: TransactionSnapshot) => Outcome<unknown>,
  ): Promise<{ body: { data: ShownTransaction } }> {
    const { id, resourceId } = message;
    if ('gone' in outcome) {
      // Its workflow is closed: either the message had its effect before, or the record says why it cannot have one.
      if (!(await transactionMessageWasTaken(db, id, resourceId))) {
        acceptOrThrow(recheck(await load(context)));
        throw unavailable(
          'the workflow of the transaction is being restored, which takes up to a minute; send the same request again',
        );
      }
    } else if (!outcome.ok) {
      throw new Refused(outcome.refusal);
    } else if (outcome.state.executionStatus === 'processing') {
      await waitForTransaction(resourceId);
    }
    return { body: { data: view(await load(context)) } };
  }

  return [
    readRoute(listTransactionsEndpoint, async ({ organizationId, query }) => {
      const scope = { organizationId, list: 'transactions' };
      const { accountId, status } = query;
      if (accountId !== undefined && !(await findAccount(db, organizationId, accountId))) {
        throw badRequest([{ field: 'accountId', message: 'is no account of the organization' }]);
      }
      const request = pageRequest(cursors, scope, query, { accountId, status }, DEFAULT_LIMIT);
      const { before, filters, limit } = request;
      const { snapshots, hasMore } = await pageOfTransactions(
        db,
        {
          organizationId,
          limit,
          ...(before === undefined ? {} : { before }),
          ...(filters.accountId === undefined ? {} : { accountId: filters.accountId }),
          ...(filters.status === undefined ? {} : { status: filters.status as 'queued' | 'executed' }),
        },
        MAX_PAGE_CALLDATA,
      );
      const rows = snapshots.map((snapshot) => ({ ...snapshot, position: snapshot.record.position }));
      return page(cursors, scope, request, rows, view, hasMore);
    }),
    readRoute(getTransactionEndpoint, async (context) => ({ data: view(await load(context)) })),
    mutationRoute(createTransactionEndpoint, {
      async prepare({ organizationId, body }) {
        await checkNewTransaction(options, organizationId, body);
        return { resourceId: newId('txn') };
      },
      async send({ organizationId }, { id, resourceId }) {
        const address = { organizationId, transactionId: resourceId };
        const outcome = await deliver(() => transactions.start({ ...address, requestId: id }));
        if ('ok' in outcome && !outcome.ok) throw new Refused(outcome.refusal);
        const created = await readTransaction(db, address);
        if (!created) throw unavailable('the transaction could not be created; send the same request again');
        return { body: { data: view(created) }, location: `${BASE_PATH}/transactions/${resourceId}` };
      },
    }),
    mutationRoute(signTransactionEndpoint, {
      async prepare(context) {
        const { type, signature } = context.body;
        const snapshot = await load(context);
        const { record, now } = snapshot;
        // Before its initiator has signed there is nothing to approve or reject: no payload to verify against.
        if (payloadToSign(record, now, type) === undefined) {
          acceptOrThrow(checkTransactionOpenTo(record, now, type));
        }
        const voter = acceptOrThrow(
          await identifyTransactionVoter(db, identifyVoter, snapshot, { type, signature }),
        );
        acceptOrThrow(checkTransactionVote(record, voter.now, { member: voter.member, type }));
        return { resourceId: record.id };
      },
      async send(context, { id, resourceId }) {
        const { organizationId, body } = context;
        const { reason, ...vote } = body;
        const outcome = await deliver(() =>
          transactions.sign({
            organizationId,
            transactionId: resourceId,
            requestId: id,
            ...vote,
            ...(reason === undefined ? {} : { reason }),
          }),
        );
        return settle(context, { id, resourceId }, outcome, ({ record, now }) =>
          checkTransactionOpenTo(record, now, body.type),
        );
      },
    }),
    mutationRoute(executeTransactionEndpoint, {
      async prepare(context) {
        const { record, now } = await load(context);
        acceptOrThrow(checkTransactionExecution(record, now, context.body.type));
        return { resourceId: record.id };
      },
      async send(context, { id, resourceId }) {
        const { organizationId, body } = context;
        const outcome = await deliver(() =>
          transactions.execute({
            organizationId,
            transactionId: resourceId,
            requestId: id,
            type: body.type,
          }),
        );
        return settle(context, { id, resourceId }, outcome, ({ record, now }) =>
          checkTransactionExecution(record, now, body.type),
        );
      },
    }),
  ];
}
