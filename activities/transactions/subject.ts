import { transactionSubject } from '../../src/approvals/transactions';
import type { NewTransaction } from '../../src/contract/transactions';
import type { Db, Tx } from '../../src/db/database';
import { type ReferencedRecords, readReferencedRecords } from '../../src/db/referencedRecords';
import { reserveUsage } from '../../src/db/reservedUsage';
import type { Statement } from '../../src/db/rows';
import { insertTransaction, type TransactionSnapshot, updateExecution } from '../../src/db/transactions';
import type { ApprovalRecord } from '../../src/domain/approval';
import type { JsonValue } from '../../src/domain/canonicalJson';
import { accept, refuse } from '../../src/domain/refusal';
import { type TransactionState, transactionState } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import {
  namedToken,
  type PlannedTransaction,
  planTransaction,
  readTransferredToken,
  replacedText,
  resolveTransaction,
} from '../../src/transactions/plan';
import { policyRefusal, usageOf } from '../../src/transactions/policy';
import { readSignedTokens } from '../../src/transactions/summary';
import type {
  ApprovalDeps,
  Beginning,
  CreatableSubject,
  CreateInput,
  ExecutableSubject,
  ExecutionRefusal,
} from '../approvals/subject';

type TransferredToken = Awaited<ReturnType<typeof readTransferredToken>>;

/** Prefix of the claim of a replacement: all transactions of one family claim the first of them. */
const FAMILY_CLAIM = 'transaction:';

function readReferenced(db: Db | Tx, organizationId: string, request: NewTransaction) {
  const { accountId, initiatorWalletAddress: walletAddress, policyId, replaces } = request;
  return readReferencedRecords(db, { organizationId, accountId, walletAddress, policyId, replaces });
}

/** Checks the policy again; the reservation of its budget, which is locked, begins the execution. */
async function reserve(
  { networks }: Pick<ApprovalDeps, 'networks'>,
  tx: Tx,
  { seen }: Beginning<TransactionSnapshot>,
): Promise<{ refused: ExecutionRefusal } | { along: readonly Statement[] }> {
  const { record } = seen;
  const refused = await policyRefusal(tx, seen, { networks });
  if (refused) return { refused };
  failpoint('worker.budgetLocked');
  return { along: [reserveUsage(tx, usageOf(record))] };
}

/** The state of a new transaction. */
function newTransactionState(
  created: ApprovalRecord,
  planned: PlannedTransaction,
  { account, initiator, policy, members, groups }: ReferencedRecords,
  time: Date,
): TransactionState | undefined {
  if (!account || !initiator || !policy) return undefined;
  const initial = {
    accountAddress: account.address,
    initiator,
    updatedAt: created.createdAt,
    result: null,
    chain: null,
    waitingFor: null,
    awaitsRelayerWei: null,
    cancelling: false,
    signerOutcome: null,
    reopenings: 0,
  };
  const now = { time, policy, policyRemoved: false, members, groups };
  return transactionState({ ...created, ...planned, ...initial }, now);
}

/** Transactions of accounts: planned under their policy, their budget reserved, then executed on chain. */
export const executableTransaction: CreatableSubject<TransactionSnapshot, TransactionState, CreateInput> &
  ExecutableSubject<TransactionSnapshot, TransactionState> = {
  ...transactionSubject,
  isRequestedBy: (_input, { path }) => path === '/api/v1/transactions',
  // Only a token that its policy does not name is read.
  needsObservation: () => false,
  async observe({ db, networks, readToken }, { organizationId }, body) {
    const request = body as unknown as NewTransaction;
    const records = await readReferenced(db, organizationId, request);
    const resolved = resolveTransaction(networks, records, request);
    const token = resolved.ok
      ? await readTransferredToken(readToken, request.networkId, resolved.value.content, records.policy)
      : null;
    // This does not refuse the transaction: the activity is retried until the chain is available.
    if (token && !token.ok && token.unavailable) throw new Error(token.reason);
    return accept(token);
  },
  async plan({ db, networks }, input, body, observed) {
    const request = body as unknown as NewTransaction;
    const records = await readReferenced(db, input.organizationId, request);
    const resolved = resolveTransaction(networks, records, request);
    if (!resolved.ok) {
      const [{ field, message }] = resolved.issues;
      return refuse('validationError', `${field} ${message}`, field);
    }
    const { content: call } = resolved.value;
    const known = observed as TransferredToken | undefined;
    const read = known === undefined ? namedToken(request.networkId, call, records.policy) : known;
    if (read === undefined) return 'unobserved';
    const signed = await readSignedTokens(
      db,
      input.organizationId,
      request.networkId,
      { content: call, calldata: request.data },
      records.policy,
    );
    const planned = planTransaction(records, resolved.value, request, { read, signed });
    if (!planned.ok) return planned;
    const { summary, names, content, policyId, initiatorId, replaces } = planned.value;
    return accept({
      summary,
      // Of simultaneous replacements one is created.
      claims: records.family && replaces !== null ? [`${FAMILY_CLAIM}${records.family.first}`] : [],
      names,
      insert: insertTransaction(db, { ...planned.value, id: input.id }),
      audit: {
        accountId: planned.value.accountId,
        networkId: planned.value.networkId,
        policyId,
        initiatorId,
        data: content as JsonValue,
        ...(replaces === null ? {} : { replaces }),
      },
      initialState: (created, { time }) => newTransactionState(created, planned.value, records, time),
    });
  },
  takenText: ({ claim, heldBy }) =>
    replacedText(claim.slice(FAMILY_CLAIM.length), { id: heldBy, isExecuted: false }),
  isOutdated: ({ awaitsRelayerWei, signerOutcome }) =>
    awaitsRelayerWei === null && signerOutcome !== 'rejected',
  isResumed: () => false,
  resume: async () => undefined,
  budgetPolicyId: ({ policyId }) => policyId,
  prepare: reserve,
  isRejectionSealed: () => false,
  rejectedResult: { resolution: 'rejected' },
  async clear(tx, seen) {
    const record = await updateExecution(tx, seen.record, { awaitsRelayerWei: null, cancelling: false });
    return { ...seen, record };
  },
};
