import { transactionSubject } from '../../src/approvals/transactionSubject';
import type { TransactionRequest } from '../../src/contract/transactionContract';
import { appendedPosition } from '../../src/db/audit';
import type { RoomInWindow } from '../../src/db/policyRoom';
import { reserveUsage } from '../../src/db/reservedUsage';
import type { Statement } from '../../src/db/rows';
import type { StoredTransaction, TransactionSnapshot } from '../../src/db/storedTransactions';
import { insertTransaction, updateExecution } from '../../src/db/transactions';
import type { ApprovalRecord } from '../../src/domain/approval';
import type { Policy } from '../../src/domain/policy';
import { roomFor, usageWindow } from '../../src/domain/policyEngine';
import { NO_REFERENCES, type References } from '../../src/domain/references';
import { accept } from '../../src/domain/refusal';
import { type TransactionState, transactionState } from '../../src/domain/transactionState';
import { failpoint } from '../../src/failpoints';
import { type PlannedTransaction, planTransaction, replacedText } from '../../src/transactions/plan';
import { policyRefusal, policyTransactionOf, usageOf } from '../../src/transactions/policy';
import type {
  ApprovalDeps,
  Beginning,
  CreatableSubject,
  CreateInput,
  ExecutableSubject,
  ExecutionRefusal,
  WriteTarget,
} from '../approvals/executableSubject';

/** Prefix of the claim of a replacement: all transactions of one family claim the first of them. */
const FAMILY_CLAIM = 'transaction:';

/** Checks the policy again; the reservation of its budget, which is locked, begins the execution. */
async function reserve(
  { networks }: Pick<ApprovalDeps, 'networks'>,
  { db, expected }: WriteTarget,
  { seen }: Beginning<TransactionSnapshot>,
): Promise<{ refused: ExecutionRefusal } | { batch: readonly Statement[] }> {
  const { record } = seen;
  const refused = await policyRefusal(db, seen, { networks, roomRequired: expected !== undefined });
  if (refused) return { refused };
  failpoint('worker.budgetChecked');
  return { batch: [reserveUsage(db, usageOf(record))] };
}

/** The references that a transaction was given, for its audit entry. */
function givenReferences(given: Partial<References> = {}) {
  const { externalId, metadata, tags } = { ...NO_REFERENCES, ...given };
  return {
    ...(externalId === null ? {} : { externalId }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
  };
}

/** The state of a new transaction. */
function newTransactionState(
  created: ApprovalRecord,
  { record, permitted }: PlannedTransaction,
  time: Date,
): TransactionState {
  const { account, initiator, policy, members, groups } = permitted;
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
    references: { ...NO_REFERENCES, ...record.references },
    fees: null,
  };
  const now = { time, policy, policyRemoved: false, members, groups };
  return transactionState({ ...created, ...record, ...initial }, now);
}

/**
 * What the budget of its policy must have room for beside a transaction; null where nothing limits it, undefined where it never
 * has.
 */
function roomOf(record: StoredTransaction, policy: Policy): RoomInWindow | null | undefined {
  const transaction = policyTransactionOf(record);
  const window = usageWindow(policy, transaction);
  const room = window && roomFor(policy, transaction);
  if (window && !room) return undefined;
  return window && room ? { window, room } : null;
}

/** Transactions of accounts: planned under their policy, their budget reserved, then executed on chain. */
export const executableTransaction: CreatableSubject<TransactionSnapshot, TransactionState, CreateInput> &
  ExecutableSubject<TransactionSnapshot, TransactionState> = {
  ...transactionSubject,
  isRequestedBy: (_input, { path }) => path === '/api/v1/transactions',
  async plan(deps, { organizationId, id }, body) {
    const outcome = await planTransaction(deps, organizationId, body as unknown as TransactionRequest);
    if (!outcome.ok) {
      // This does not refuse the transaction: the activity is retried until the chain is available.
      if (outcome.refusal.code === 'internalError') throw new Error(outcome.refusal.message);
      return outcome;
    }
    const planned = outcome.value;
    const { record, summary, mentions, permitted } = planned;
    const { accountId, networkId, policyId, initiatorId, content, replaces, references } = record;
    return accept({
      summary,
      // Of simultaneous replacements one is created.
      claims: permitted.family && replaces !== null ? [`${FAMILY_CLAIM}${permitted.family.first}`] : [],
      mentions,
      insert: insertTransaction(deps.db, {
        ...record,
        ...{ id, organizationId, summary },
        position: appendedPosition(deps.db),
      }),
      audit: {
        accountId,
        networkId,
        policyId,
        initiatorId,
        data: content,
        ...(replaces === null ? {} : { replaces }),
        ...givenReferences(references),
      },
      initialState: (created, { time }) => newTransactionState(created, planned, time),
    });
  },
  takenText: ({ claim, holder: heldBy }) =>
    replacedText(claim.slice(FAMILY_CLAIM.length), { id: heldBy, isExecuted: false }),
  isOutdated: ({ awaitsRelayerWei, signerOutcome }) =>
    awaitsRelayerWei === null && signerOutcome !== 'rejected',
  isResumed: () => false,
  resume: async () => undefined,
  budget({ record, now }) {
    // What is left of an earlier execution is cleared with the record locked.
    const isClear = record.awaitsRelayerWei === null && !record.cancelling;
    return { policyId: record.policyId, room: isClear ? roomOf(record, now.policy) : undefined };
  },
  reserve,
  isRejectionSealed: () => false,
  rejectedResult: { resolution: 'rejected' },
  async clear(tx, seen) {
    const record = await updateExecution(tx, seen.record, { awaitsRelayerWei: null, cancelling: false });
    return { ...seen, record };
  },
};
