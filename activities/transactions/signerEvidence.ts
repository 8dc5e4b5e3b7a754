import { initiatorPayload, payloadToSign, transactionSubject } from '../../src/approvals/transactions';
import { verifyVotes } from '../../src/approvals/voters';
import { ACCOUNT_CONTRACTS } from '../../src/chain/safeAccount';
import { hashTypedPayload } from '../../src/chain/typedData';
import { type AuthorizationOutcome, findAuthorization, insertRejection } from '../../src/db/authorizations';
import type { Tx } from '../../src/db/database';
import type { UsageOfExecution } from '../../src/db/policyUsage';
import {
  readUnsealedTransaction,
  type StoredTransaction,
  type TransactionSnapshot,
} from '../../src/db/transactions';
import { countedVoters, type Decision, isExpired } from '../../src/domain/approval';
import { canonicalJson } from '../../src/domain/canonicalJson';
import { textDifference } from '../../src/domain/textDifference';
import { initiatorVote, transactionRules } from '../../src/domain/transaction';
import { checkTarget } from '../../src/domain/transactionContent';
import type { RejectionEntry } from '../../src/journal/entries';
import type { IndexedAuthorization } from '../../src/journal/journalIndex';
import { contentOf, policyRefusal, policyTransactionOf, usageOf } from '../../src/transactions/policy';
import { readSignedToken, summaryOf } from '../../src/transactions/summary';
import { networkOf, type SignerContext } from '../signer/context';
import { ROLLED_BACK, SignerHold, SignerRefusal } from '../signer/refusal';
import { assertBudgetKept, assertNotAuthorized, rejectionEntries } from './journaled';
import { readSealedTransaction, type SigningSnapshot } from './signerRecord';

/** The votes of a transaction. */
export type Votes = StoredTransaction['votes'];

/** Whether a record has a signable form: valid addresses and numbers. */
function canBeSigned({ record, now }: TransactionSnapshot): boolean {
  try {
    hashTypedPayload(payloadToSign(record, now, 'initiator') ?? '');
    return true;
  } catch {
    return false;
  }
}

/**
 * The votes for a decision about a transaction whose signatures are valid now. Outside the database transaction, because signatures of
 * contract wallets are verified on chain. Throws ChainUnavailable.
 */
export async function verifiedVotes(
  { identifyVoter }: Pick<SignerContext, 'identifyVoter'>,
  seen: TransactionSnapshot,
  decision: Decision = 'approve',
): Promise<Votes> {
  if (!canBeSigned(seen)) return [];
  const initiated = await verifyVotes(identifyVoter, transactionSubject, seen, 'initiator');
  // An approval is bound to the initiator's signature: it needs a valid one.
  const others = seen.record.votes.filter(({ type }) => type !== 'initiator');
  const begun = { ...seen, record: { ...seen.record, votes: [...initiated, ...others] } };
  return [...initiated, ...(await verifyVotes(identifyVoter, transactionSubject, begun, decision))];
}

/** Throws SignerRefusal unless a record is still the one whose votes were verified before the transaction began. */
export function assertSameContent(verified: StoredTransaction, record: StoredTransaction): void {
  if (initiatorPayload(verified) === initiatorPayload(record)) return;
  throw new SignerRefusal('stale', `transaction ${record.id} was changed while its votes were verified`);
}

/** The record with those of its votes that are stored now and were verified before the transaction began. */
export function withVerifiedVotes(record: StoredTransaction, verified: Votes): StoredTransaction {
  const identity = (vote: Votes[number]) => canonicalJson({ ...vote, createdAt: null });
  const stored = new Set(record.votes.map(identity));
  return { ...record, votes: verified.filter((vote) => stored.has(identity(vote))) };
}

/** Throws SignerRefusal unless a transaction is being executed. */
export function assertBeingExecuted({ id, executionStatus }: StoredTransaction): void {
  if (executionStatus === 'processing') return;
  throw new SignerRefusal('stale', `transaction ${id} is not being executed: it is ${executionStatus}`);
}

/** Throws SignerRefusal unless a transaction is being executed before its expiry, with consistent fields. */
function assertExecuting(record: StoredTransaction, now: TransactionSnapshot['now']): void {
  const { id, accountAddress } = record;
  assertBeingExecuted(record);
  if (isExpired(record, now.time)) {
    throw new SignerRefusal('timeout', `transaction ${id} expired before anything of it was signed`);
  }
  const { content } = policyTransactionOf(record);
  const target = checkTarget(record.to, { address: accountAddress, contracts: ACCOUNT_CONTRACTS });
  if (!target.ok) throw new SignerRefusal('stale', `to ${target.refusal.message}`);
  if (record.type !== content.type) {
    throw new SignerRefusal('stale', `transaction ${id} is a ${content.type} and recorded as ${record.type}`);
  }
}

/** Throws SignerRefusal unless the initiator and enough approvers have signed. `record` holds verified votes only. */
function assertVotes(record: StoredTransaction, now: TransactionSnapshot['now']): void {
  if (!initiatorVote(record, now)) {
    throw new SignerRefusal('stale', 'the signer found no valid signature of the initiator');
  }
  const approvals = countedVoters(transactionRules, record, now, 'approve');
  const { approve: threshold } = transactionRules.thresholds(record, now);
  if (approvals.length < threshold) {
    throw new SignerRefusal(
      'stale',
      `the signer found ${approvals.length} valid approvals by current approvers; ${threshold} are required`,
    );
  }
}

/**
 * Throws SignerRefusal unless the summary that was signed is the one that the bytes make, with the names, networks and
 * tokens of now.
 */
async function assertSummary(
  context: SignerContext,
  tx: Tx,
  record: StoredTransaction,
  { policy }: TransactionSnapshot['now'],
): Promise<void> {
  const {
    networkId,
    organizationId,
    accountName: name,
    accountAddress: address,
    calldata,
    replaces,
  } = record;
  const content = contentOf(record);
  const token = await readSignedToken(tx, organizationId, networkId, content, policy);
  const network = networkOf(context, networkId);
  const facts = { network, account: { name, address }, calldata, replaces, token };
  const rebuilt = summaryOf({ ...facts, policy, content });
  if (rebuilt === record.summary) return;
  throw new SignerRefusal(
    'stale',
    `the summary of transaction ${record.id} is not what it does now: ${textDifference(record.summary, rebuilt)}`,
  );
}

/** Most transactions that replace each other and of which none is authorized. */
const MOST_REPLACED = 100;

/** What a summary says that its transaction replaces; it is the end of it, which no name can be. */
function replacedIn(summary: string): string | null {
  return /, in place of the failed (txn_\w+)$/.exec(summary)?.[1] ?? null;
}

/**
 * The transactions that a transaction replaces, directly and indirectly, up to one that the journal has: these are not
 * authorized, and the journal does not know yet what they replace, which their initiators have signed. Outside the database
 * transaction, because signatures of contract wallets are verified on chain. Throws SignerRefusal for one that its initiator
 * has not signed, SignerHold for an endless chain and for one that is being authorized, and ChainUnavailable.
 */
export async function unjournaledReplaced(
  context: SignerContext,
  { id: by, organizationId, replaces }: StoredTransaction,
): Promise<readonly StoredTransaction[]> {
  const { journal, db } = context;
  const found: StoredTransaction[] = [];
  for (let id = replaces; id !== null; id = found.at(-1)?.replaces ?? null) {
    if (journal.authorizationOf(id) || journal.isRejected(id)) break;
    assertNotAuthorized(context, id);
    const seen = await readSealedTransaction(context, db, { organizationId, transactionId: id });
    const isSigned =
      seen?.record.id === id &&
      replacedIn(seen.record.summary) === seen.record.replaces &&
      canBeSigned(seen) &&
      (await verifyVotes(context.identifyVoter, transactionSubject, seen, 'initiator')).length > 0;
    if (!seen || !isSigned) {
      throw new SignerRefusal(
        'stale',
        `transaction ${by} replaces ${id}, and no current initiator has signed what that replaces: create it without replaces`,
      );
    }
    if (found.length >= MOST_REPLACED) {
      throw new SignerHold('rollback', `what transaction ${by} replaces has no end: ${ROLLED_BACK}`);
    }
    found.push(seen.record);
  }
  return found;
}

/** The other authorized transactions that stand for the same payment; `unjournaled`: of `unjournaledReplaced`. */
export function othersOfPayment(
  { journal }: Pick<SignerContext, 'journal'>,
  { id, replaces }: Pick<StoredTransaction, 'id' | 'replaces'>,
  unjournaled: readonly Pick<StoredTransaction, 'id' | 'replaces'>[],
): readonly IndexedAuthorization[] {
  const all = [{ id, replaces }, ...unjournaled].flatMap((one) => journal.othersOf(one.id, one.replaces));
  return [...new Map(all.map((one) => [one.transactionId, one])).values()].filter(
    ({ transactionId }) => transactionId !== id,
  );
}

/**
 * The outcome of the transaction that another one replaces; null while the table and the journal do not both have it. One
 * that was never authorized is recorded as rejected. Throws SignerRefusal unless it is a failed transaction of the same
 * account, and SignerHold where only the journal has its authorization.
 */
async function outcomeOfReplaced(
  { journal, pending }: Pick<SignerContext, 'journal' | 'pending'>,
  tx: Tx,
  { id, organizationId, accountId }: StoredTransaction,
  transactionId: string,
): Promise<AuthorizationOutcome | null> {
  const authorized = await findAuthorization(tx, transactionId);
  const isRejected = authorized?.outcome === 'rejected';
  const record =
    authorized && !isRejected
      ? undefined
      : (await readUnsealedTransaction(tx, { organizationId, transactionId }))?.record;
  const isFailed = record?.id === transactionId && record.closed && record.executionStatus === 'failed';
  const failed = isRejected || isFailed ? record : undefined;
  if ((authorized ?? failed)?.accountId !== accountId) {
    throw new SignerRefusal(
      'stale',
      `transaction ${id} replaces ${transactionId}, which is not a failed transaction of account ${accountId}`,
    );
  }
  const outcome = authorized?.outcome ?? null;
  if (failed) {
    assertNotAuthorized({ journal, pending }, transactionId);
    return isRejected ? outcome : insertRejection(tx, usageOf(failed));
  }
  return journal.outcomeOf(transactionId)?.outcome === outcome ? outcome : null;
}

/**
 * Throws while another transaction that stands for the same payment can be executed, by the journal: SignerHold where it is
 * undecided, SignerRefusal where it was executed.
 */
function assertNoneOther(
  { journal }: Pick<SignerContext, 'journal'>,
  { id }: StoredTransaction,
  others: readonly IndexedAuthorization[],
): void {
  for (const { transactionId } of others) {
    const outcome = journal.outcomeOf(transactionId)?.outcome ?? null;
    const same = `transaction ${id} stands for the same payment as ${transactionId}`;
    if (outcome === 'executed') throw new SignerRefusal('stale', `${same}, which was executed`);
    if (outcome === null) {
      throw new SignerHold('undecided', `${same}, whose outcome the signer has not read yet`);
    }
  }
}

/** Why the outcome of a replaced transaction could not be read now; undefined where it was read. */
export type Unread = SignerHold | undefined;

/**
 * Throws SignerRefusal unless what a transaction replaces, and all else that stands for the same payment, can never
 * execute, by what the signer itself has read or by a rejection that it records here; and SignerHold while it has not read
 * that. Returns what is recorded as rejected.
 */
async function assertReplaceable(
  context: SignerContext,
  tx: Tx,
  record: StoredTransaction,
  { unread, replaced }: Pick<Verified, 'unread' | 'replaced'>,
): Promise<readonly RejectionEntry[]> {
  const { id, replaces } = record;
  if (replaces === null) return [];
  const outcome = await outcomeOfReplaced(context, tx, record, replaces);
  if (unread) throw unread;
  if (outcome === null) {
    throw new SignerHold(
      'undecided',
      `transaction ${id} replaces ${replaces}, whose outcome the signer has not read yet`,
    );
  }
  if (outcome === 'executed') {
    throw new SignerRefusal('stale', `transaction ${id} replaces ${replaces}, which was executed`);
  }
  assertNoneOther(context, record, othersOfPayment(context, record, replaced));
  // What was never authorized never will be, and the journal then knows what it replaces.
  const entries: RejectionEntry[] = [];
  for (const one of replaced) {
    if (one.id !== replaces) await outcomeOfReplaced(context, tx, record, one.id);
    entries.push(...(await rejectionEntries(context, tx, one)));
  }
  return entries;
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
      by: 'signer',
      at,
      ...(except === undefined ? {} : { except }),
      verify: (window, usage) => assertBudgetKept(context, window, usage, { at, except }),
    },
  );
}

/** What was verified outside of the database transaction. */
export interface Verified {
  readonly votes: Votes;
  readonly unread: Unread;
  /** Of `unjournaledReplaced`. */
  readonly replaced: readonly StoredTransaction[];
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
  assertExecuting(record, now);
  assertVotes(record, now);
  await assertSummary(context, tx, record, now);
  const rejected = await assertReplaceable(context, tx, record, verified);
  const refused = await refusalByPolicy(context, tx, { record, now }, { except });
  if (refused) throw new SignerRefusal(refused.code, refused.message);
  assertReservation({ record, reserved });
  return rejected;
}
