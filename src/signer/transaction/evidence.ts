import { adminsSafeAddresses } from '../../chain/adminsSafe';
import { restrictedEncodingFault } from '../../chain/decode';
import { ACCOUNT_CONTRACTS } from '../../chain/safeAccount';
import type { Tx } from '../../db/database';
import type { UsageOfExecution } from '../../db/policyUsage';
import type { StoredTransaction, TransactionSnapshot } from '../../db/storedTransactions';
import { isExpired } from '../../domain/approval';
import { canonicalJson } from '../../domain/canonicalJson';
import { initiatorPayload } from '../../domain/signing';
import { textDifference } from '../../domain/textDifference';
import { checkTarget } from '../../domain/transactionContent';
import { policyRefusal, policyTransactionOf, usageOf } from '../../transactions/policy';
import { readSignedTokens, summaryOf } from '../../transactions/summary';
import { assertWithinCutoffs } from '../cutoff';
import type { RejectionEntry } from '../journal/entries';
import { SignerRefusal } from '../refusal';
import { networkOf, type SignerContext } from '../signerContext';
import { assertBudgetKept } from './journaled';
import type { SigningSnapshot } from './record';
import { assertReplaceable, type ReadBefore } from './replacements';
import { missingVotes } from './sealedTransaction';
import { type Votes, withVerifiedVotes } from './votes';

/** Throws SignerRefusal unless a record is still the one whose votes were verified before the transaction began. */
export function assertSameContent(verified: StoredTransaction, record: StoredTransaction): void {
  if (initiatorPayload(verified) === initiatorPayload(record)) return;
  throw new SignerRefusal('stale', `transaction ${record.id} was changed while its votes were verified`);
}

/** Throws SignerRefusal unless a transaction is being executed. */
export function assertBeingExecuted({ id, executionStatus }: StoredTransaction): void {
  if (executionStatus === 'processing') return;
  throw new SignerRefusal('stale', `transaction ${id} is not being executed: it is ${executionStatus}`);
}

/** Throws SignerRefusal unless a transaction is being executed before its expiry. */
function assertExecuting(record: StoredTransaction, { now }: Pick<SigningSnapshot, 'now'>): void {
  assertBeingExecuted(record);
  if (isExpired(record, now.time)) {
    throw new SignerRefusal('timeout', `transaction ${record.id} expired before anything of it was signed`);
  }
}

/** What is read of the bytes of a transaction. */
type Sent = ReturnType<typeof policyTransactionOf>;

/** Throws SignerRefusal unless what a transaction sends may be sent there, and its fields are consistent. */
function assertSendable({ record, state }: Pick<SigningSnapshot, 'record' | 'state'>, sent: Sent): void {
  const { type } = sent.content;
  const target = checkTarget(record.to, sent, {
    address: record.accountAddress,
    contracts: ACCOUNT_CONTRACTS,
    adminsSafe: adminsSafeAddresses(state),
  });
  if (!target.ok) throw new SignerRefusal('stale', `${target.refusal.field} ${target.refusal.message}`);
  const encodingFault = restrictedEncodingFault(record.calldata);
  if (encodingFault !== null) throw new SignerRefusal('stale', `data ${encodingFault}`);
  if (record.type !== type) {
    throw new SignerRefusal('stale', `transaction ${record.id} is a ${type} and recorded as ${record.type}`);
  }
}

/** Throws SignerRefusal unless the initiator and enough approvers have signed. `record` holds verified votes only. */
function assertVotes(record: StoredTransaction, now: TransactionSnapshot['now']): void {
  const missing = missingVotes({ record, now });
  if (missing !== undefined) throw new SignerRefusal('stale', `the signer found ${missing}`);
}

/**
 * Throws SignerRefusal unless the summary that was signed is the one that the bytes make, with the names, networks and
 * tokens of now.
 */
async function assertSummary(
  context: SignerContext,
  tx: Tx,
  { record, now: { policy } }: Pick<SigningSnapshot, 'record' | 'now'>,
  { content, nested }: Sent,
): Promise<void> {
  const {
    networkId,
    organizationId,
    accountName: name,
    accountAddress: address,
    calldata,
    replaces,
  } = record;
  const tokens = await readSignedTokens(tx, organizationId, networkId, { content, calldata }, policy);
  const network = networkOf(context, networkId);
  const facts = { network, account: { name, address }, calldata, replaces, tokens };
  const rebuilt = summaryOf({ ...facts, policy, content, nested });
  if (rebuilt === record.summary) return;
  throw new SignerRefusal(
    'stale',
    `the summary of transaction ${record.id} is not what it does now: ${textDifference(record.summary, rebuilt)}`,
  );
}

/**
 * Why its policy or its budget does not permit a transaction at the signer's time; null where both do. `except`: the
 * transaction whose stored authorization does not count. Throws BudgetBehind.
 */
export function refusalByPolicy(
  context: SignerContext,
  tx: Tx,
  { record, now }: TransactionSnapshot,
  { except }: { readonly except: string | undefined },
): ReturnType<typeof policyRefusal> {
  const at = now.time;
  return policyRefusal(
    tx,
    { record, now },
    {
      networks: context.networks,
      by: 'signer',
      at,
      ...(except === undefined ? {} : { except }),
      verify: (window, usage) => assertBudgetKept(context, window, usage, { policy: now.policy, at, except }),
    },
  );
}

/** What was verified outside of the database transaction. */
export interface Verified extends ReadBefore {
  readonly votes: Votes;
}

/** Throws SignerRefusal unless the budget of exactly this execution is reserved. */
function assertReservation({ record, reserved }: Pick<SigningSnapshot, 'record' | 'reserved'>): void {
  const plain = (usage: UsageOfExecution) => canonicalJson({ ...usage, amount: String(usage.amount) });
  if (!reserved || plain(reserved) !== plain(usageOf(record))) {
    throw new SignerRefusal('stale', `no budget is reserved for transaction ${record.id} as recorded`);
  }
}

/**
 * Throws SignerRefusal unless the records permit the transaction at this moment. `except`: a transaction whose own
 * authorization is stored already. Returns what it replaces and is recorded as rejected.
 */
export async function assertTransactionEvidence(
  context: SignerContext,
  tx: Tx,
  snapshot: SigningSnapshot,
  { votes, except, ...verified }: Verified & { except?: string },
): Promise<readonly RejectionEntry[]> {
  const { now, reserved } = snapshot;
  const record = withVerifiedVotes(snapshot.record, votes);
  if (record.signerOutcome === 'rejected' || context.journal.isRejected(record.id)) {
    throw new SignerRefusal('stale', `transaction ${record.id} has been rejected`);
  }
  assertWithinCutoffs(context, 'transaction', record);
  assertExecuting(record, snapshot);
  const sent = policyTransactionOf(record);
  assertSendable(snapshot, sent);
  assertVotes(record, now);
  await assertSummary(context, tx, snapshot, sent);
  const rejected = await assertReplaceable(context, tx, record, verified);
  const refused = await refusalByPolicy(context, tx, { record, now }, { except });
  if (refused) throw new SignerRefusal(refused.code, refused.message);
  assertReservation({ record, reserved });
  return rejected;
}
