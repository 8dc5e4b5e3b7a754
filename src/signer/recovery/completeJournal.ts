import type { Address, Hex } from 'viem';
import { checksumAddress } from '../../chain/address';
import type { ChainClient } from '../../chain/clients';
import type { SigningKeys } from '../../chain/keys';
import { deriveAccount } from '../../chain/safeAccount';
import { cancellation, safeTransactionHash } from '../../chain/safeTransaction';
import { hasSigned } from '../../chain/signatures';
import type { IdentifyVoter } from '../../chain/voter';
import type { NetworkConfig } from '../../config';
import { type Attempt, attemptsOfTransaction } from '../../db/attempts';
import { listAuthorizations, type ShownAuthorization } from '../../db/authorizations';
import type { Db } from '../../db/database';
import { findSealedState, listSeals } from '../../db/seals';
import { readContent, spendingOf } from '../../domain/transactionContent';
import { isDecided } from '../comparison/signedOutside';
import { type JournalEntry, JournalError, sealEntry, signedPart } from '../journal/entries';
import type { Journal } from '../journal/journal';
import { sealedSequences } from '../store/compared';
import { activeFreezes } from '../store/freezeRecords';
import { readJournaledRecord } from '../store/journaledRecords';
import { readUnsealedTransaction } from '../store/transactionsToSign';
import { listUnknownExecutions } from '../store/unknownExecutionRecords';
import { cutoffOfNow } from './cutOffRequests';
import { provedByVotes, type Voted } from './provedByVotes';
import { type StatesAt, sealedHistory } from './sealedHistory';
import { type ShownExecution, shownOnChain } from './shownOnChain';

/** What completing a journal needs. */
interface Deps {
  readonly db: Db;
  readonly journal: Journal;
  readonly keystore: Pick<SigningKeys, 'organizationKey' | 'sealKey'>;
  /** The signer's own endpoints of a network. */
  readonly endpointsOf: (networkId: number) => readonly ChainClient[];
  readonly identifyVoter: IdentifyVoter;
  readonly networks: readonly NetworkConfig[];
  /** How long a request can be signed. */
  readonly lifetimeMs: number;
}

/** What both an authorization and a rejection keep, by their row. */
async function decidedOf({ db }: Deps, organizationId: string, shown: ShownAuthorization) {
  const { transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount, destination } =
    shown;
  return {
    ...{ organizationId, transactionId, accountId, networkId, policyId, initiatorId, tokenAddress, amount },
    destination,
    // Nobody has signed what a row says of it.
    replaces: null,
    record: (await readJournaledRecord(db, transactionId)) ?? null,
  };
}

/** What a call spends, by its bytes alone: a row may say less, and leave more of a budget. */
function spentBy({ id, to, value, data }: Pick<Attempt, 'id' | 'to' | 'value' | 'data'>) {
  const content = readContent({ to, value, data }, checksumAddress);
  if (!content.ok) throw new JournalError(`chain_attempts ${id} has no call: ${content.refusal.message}`);
  const { recipient, token, amount } = spendingOf(content.value);
  return { tokenAddress: token, amount: String(amount), destination: recipient };
}

/**
 * What became of an authorization, where database and chain say the same. What else was read, the signer reads again. Where it
 * has no endpoint to ask, only `executed` is taken over, and as if its block were of now: a budget counts it from then on.
 */
function outcomeOf(
  { outcome, safeTxHash }: ShownAuthorization,
  shown: ShownExecution | null,
  now: string | undefined,
): { outcome: 'executed' | 'reverted' | 'cancelled'; blockAt: string } | undefined {
  if (outcome === null || outcome === 'rejected') return undefined;
  if (!shown) return outcome === 'executed' && now !== undefined ? { outcome, blockAt: now } : undefined;
  const kind = shown.kind === 'success' ? 'executed' : 'reverted';
  const became = shown.safeTxHash === safeTxHash ? kind : 'cancelled';
  return became === outcome ? { outcome, blockAt: shown.blockAt.toISOString() } : undefined;
}

/** A stored authorization with what proves it. */
interface Proof {
  readonly attempt: Attempt;
  readonly account: Address;
  /** The hash of its cancellation. */
  readonly empty: Hex;
  /** The key has signed it, or the account has executed it. */
  readonly isProved: boolean;
  /** Its cancellation is stored, and was executed in its place where nothing else proves it. */
  readonly isCancelled: boolean;
  readonly became: ReturnType<typeof outcomeOf>;
}

/** An authorization that the database has and the journal has not. */
interface Asked {
  readonly organizationId: string;
  readonly shown: ShownAuthorization;
  /** The time of the completion (ISO 8601): no authorization is later. */
  readonly latest: string;
}

/** Whether the call of an attempt has the hash of its authorization. */
function isAuthorized(attempt: Attempt, account: Address, { safeTxHash }: ShownAuthorization): boolean {
  const content = { ...attempt, account, to: attempt.to as Address, data: attempt.data as Hex };
  return (
    attempt.safeTxHash === safeTxHash &&
    safeTransactionHash({ ...content, nonce: attempt.safeNonce }) === safeTxHash
  );
}

/** What the key of the organization and the chain say of an authorization; undefined where its rows do not fit each other. */
async function proofOf(
  { db, keystore, endpointsOf }: Deps,
  { organizationId, shown, latest }: Asked,
): Promise<Proof | undefined> {
  const attempts = await attemptsOfTransaction(db, shown.transactionId);
  const attempt = attempts.find(({ kind }) => kind === 'transaction');
  if (!attempt) return undefined;
  const { accountId, networkId, safeNonce, fromBlock, signature } = attempt;
  const { address } = keystore.organizationKey(organizationId);
  // A row may say that it is elsewhere.
  const account = deriveAccount(address, accountId).address as Address;
  if (!isAuthorized(attempt, account, shown)) return undefined;
  const endpoints = endpointsOf(networkId);
  const executed = await shownOnChain(db, endpoints, {
    ...{ accountId, networkId, account, safeNonce, fromBlock },
  });
  const isSigned =
    signature !== null && (await hasSigned(address, attempt.safeTxHash as Hex, signature as Hex));
  const isProved = isSigned || executed?.safeTxHash === shown.safeTxHash;
  const empty = safeTransactionHash(cancellation({ networkId, account, nonce: safeNonce }));
  const isCancelled =
    attempts.some(({ kind }) => kind === 'cancellation') && (isProved || executed?.safeTxHash === empty);
  const now = endpoints.length === 0 ? latest : undefined;
  const became = isProved || isCancelled ? outcomeOf(shown, executed, now) : undefined;
  return { attempt, account, empty, isProved, isCancelled, became };
}

/** What the votes say about an authorization; undefined where they do not suffice for what was signed. */
async function votedOf(
  { db, identifyVoter, networks }: Deps,
  statesAt: StatesAt,
  { attempt, account }: Proof,
  { authorizedAt }: ShownAuthorization,
): Promise<Voted | undefined> {
  const found = await readUnsealedTransaction(db, attempt);
  if (found?.record.id !== attempt.transactionId) return undefined;
  const asked = { found, attempt, account, at: new Date(authorizedAt) };
  return provedByVotes({ identifyVoter, networks }, asked, statesAt(authorizedAt));
}

/** The entries of what is proved, and whether its labels are what was voted for. */
interface Entries {
  readonly entries: readonly JournalEntry[];
  readonly isVoted: boolean;
}

const NOTHING: Entries = { entries: [], isVoted: true };

/**
 * The entries of one authorization or rejection; none where nothing proves it: neither a signature of the key, nor an
 * execution on the chain. Transaction, policy, initiator and what it replaces are those that its voters have signed; where
 * their votes cannot be verified, those of its row, without evidence.
 */
async function entriesOf(deps: Deps, statesAt: StatesAt, asked: Asked): Promise<Entries> {
  const { organizationId, shown, latest } = asked;
  const decided = await decidedOf(deps, organizationId, shown);
  const { transactionId } = decided;
  if (shown.outcome === 'rejected') {
    return { entries: [{ type: 'rejection', ...decided, expiresAt: null }], isVoted: true };
  }
  const proof = await proofOf(deps, asked);
  if (!proof) return NOTHING;
  const { attempt, account, empty, isProved, isCancelled, became } = proof;
  const { accountId, networkId } = attempt;
  const of = { organizationId, transactionId };
  const nonceOf = { accountId, networkId, safeNonce: String(attempt.safeNonce) };
  const voted = isProved ? await votedOf(deps, statesAt, proof, shown) : undefined;
  const authorization = {
    ...{ type: 'authorization' as const, ...decided, accountId, networkId, evidence: null },
    ...voted,
    ...spentBy(attempt),
    ...signedPart(attempt),
    account,
    // biome-ignore lint/complexity/useMathMinMax: times as text
    authorizedAt: shown.authorizedAt < latest ? shown.authorizedAt : latest,
  };
  return {
    entries: [
      ...(isProved ? [authorization] : []),
      ...(isCancelled ? [{ type: 'cancellation' as const, ...of, ...nonceOf, safeTxHash: empty }] : []),
      ...(became ? [{ type: 'outcome' as const, ...of, ...became }] : []),
    ],
    isVoted: voted !== undefined || !isProved,
  };
}

/** Unknown executions and freezes of the database that the journal lacks. */
async function otherEntries({ db, journal }: Deps): Promise<JournalEntry[]> {
  const known = new Set(journal.unknownExecutions().map(({ safeTxHash }) => safeTxHash));
  const unknown = await listUnknownExecutions(db);
  const freezes = await activeFreezes(db);
  return [
    ...unknown
      .filter(({ safeTxHash }) => !known.has(safeTxHash))
      .map((one) => ({ type: 'unknownExecution' as const, ...one, safeNonce: String(one.safeNonce) })),
    ...freezes
      .filter(({ id }) => !journal.isRequestDone(id))
      .map(({ id, organizationId }) => ({ type: 'freeze' as const, id, organizationId })),
  ];
}

/** What a journal was completed with. */
export interface Completed {
  /** Ids of authorizations that nothing proves: they are not in the journal. */
  readonly unproved: readonly string[];
  /** Ids of transactions whose authorization is proved, and whose votes do not say that it is theirs. */
  readonly unvoted: readonly string[];
}

/**
 * Completes a journal that is new, or from a backup, with what the database has and the keys or the chains prove, bound to
 * the transactions that its votes name. What was requested before is cut off: what the database has lost as well, or hides, is
 * lost, and the signer decides nothing about it any more. `isLost`: lines are missing, whatever the database has. Throws
 * JournalError for a seal that is not signed, and ChainUnavailable.
 */
export async function completeJournal(deps: Deps, { isLost }: { isLost: boolean }): Promise<Completed> {
  const { db, journal, keystore, lifetimeMs } = deps;
  const unproved: string[] = [];
  const unvoted: string[] = [];
  // By the clock of its lines: what is completed was authorized before the cutoff.
  const latest = new Date(Math.max(Date.now(), journal.lastTime())).toISOString();
  let isCutOff = false;
  const cutOff = async () => {
    if (isCutOff) return;
    const cutoff = await cutoffOfNow(deps, { organizationId: null, lifetimeMs });
    await journal.beginCompleting();
    await journal.append(cutoff);
    isCutOff = true;
  };
  const complete = async (entries: readonly JournalEntry[]) => {
    if (entries.length === 0) return;
    // After a crash the journal lacks what was just stored, but nothing that is signed.
    if (entries.some(({ type }) => type === 'authorization')) await cutOff();
    await journal.beginCompleting();
    await journal.append(...entries);
  };
  if (isLost) await cutOff();
  for (const organizationId of (await sealedSequences(db)).keys()) {
    const seals = await listSeals(db, organizationId, { after: -1 });
    const { address } = keystore.sealKey(organizationId);
    const now = await findSealedState(db, organizationId);
    const statesAt = await sealedHistory(address, organizationId, { seals, now });
    const known = journal.latestSealed(organizationId)?.sequence ?? -1;
    await complete(seals.filter(({ sequence }) => sequence > known).map(sealEntry));
    for (const shown of await listAuthorizations(db, organizationId)) {
      if (isDecided(journal, shown.transactionId)) continue;
      const { entries, isVoted } = await entriesOf(deps, statesAt, { organizationId, shown, latest });
      if (entries.length === 0) unproved.push(shown.transactionId);
      if (!isVoted) unvoted.push(shown.transactionId);
      await complete(entries);
    }
  }
  await complete(await otherEntries(deps));
  return { unproved, unvoted };
}
