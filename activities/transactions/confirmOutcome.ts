import type { Address } from 'viem';
import { ask, assertChainId, type ChainClient, ChainUnavailable } from '../../src/chain/clients';
import type { Execution } from '../../src/chain/executions';
import { attemptsOfTransaction, envelopesOf } from '../../src/db/attempts';
import { type AuthorizationOutcome, decideAuthorization } from '../../src/db/authorizations';
import type { Tx } from '../../src/db/database';
import { insertUnknownExecution } from '../../src/db/unknownExecutions';
import type { TransactionRef } from '../../src/domain/transaction';
import type { OutcomeEntry } from '../../src/journal/entries';
import { assertAccount } from '../signer/account';
import { networkOf, type SignerContext, withNetwork } from '../signer/context';
import { SignerRefusal } from '../signer/refusal';
import { findInOwn, headOf, isNonceUsed, searchAtNonce } from './atNonce';
import { isJournaled } from './journaled';
import { type AtNonce, isUnknown, kindOf } from './outcome';
import { assertAttemptOf, assertCancellation } from './signedAttempts';
import { networkAndPolicyOf, readOnNetwork } from './signerRecord';

/** What the signer reads about an authorization from its own endpoints. */
interface Decision {
  readonly outcome: NonNullable<OutcomeEntry['outcome']>;
  readonly blockAt: Date;
  /** What used the nonce, where nobody here has authorized it. */
  readonly unknown: Pick<Execution, 'safeTxHash' | 'transactionHash'> | null;
}

/** What became of a transaction; `outcome` is null while the signer's endpoints have not decided it. */
export type ConfirmedOutcome =
  | { readonly outcome: AuthorizationOutcome | null }
  | { readonly unreachable: string };

/**
 * What one endpoint says was executed at the nonce, once it has the network's confirmations; null: nothing yet; `unshown`:
 * the nonce is used, and it does not show by what. `search`: also in the logs, where no transaction of ours has it. Throws
 * ChainUnavailable.
 */
async function decisionOf(
  chain: ChainClient,
  at: AtNonce,
  search: boolean,
): Promise<Decision | null | 'unshown'> {
  await assertChainId(chain);
  const head = await headOf(chain);
  const own = await findInOwn(chain, at);
  const isUsed = own !== null || (await isNonceUsed(chain, at));
  const execution = own ?? (isUsed && search ? await searchAtNonce(chain, at, head) : null);
  if (!execution) return isUsed ? 'unshown' : null;
  if (head < execution.blockNumber + BigInt(chain.network.confirmations)) return null;
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockHash: execution.blockHash }));
  const blockAt = new Date(Number(timestamp) * 1_000);
  const { safeTxHash, transactionHash } = execution;
  const unknown = isUnknown(at, execution) ? { safeTxHash, transactionHash } : null;
  return { outcome: kindOf(at, execution), blockAt, unknown };
}

function isSame(one: Decision | null, other: Decision): boolean {
  return one?.outcome === other.outcome && one.blockAt.getTime() === other.blockAt.getTime();
}

/**
 * What all endpoints of the signer say, or what is recorded where some do not show it and the others say the same. Throws
 * ChainUnavailable, also where they disagree, or there is none.
 */
async function readDecision(
  context: SignerContext,
  at: AtNonce,
  { recorded, search }: { readonly recorded: Decision | null; readonly search: boolean },
): Promise<Decision | null> {
  const { networkId, transactionId } = at.transaction;
  const network = networkOf(context, networkId);
  const chains = context.endpointsOf(network);
  const shown = await Promise.all(chains.map((chain) => decisionOf(chain, at, search)));
  const said = shown.filter((one) => one !== 'unshown');
  if (recorded && said.length < shown.length && said.every((one) => isSame(one, recorded))) return recorded;
  const decisions = shown.map((one) => (one === 'unshown' ? null : one));
  const [first] = decisions;
  if (first === undefined) {
    throw new ChainUnavailable(network, 'it has no signerRpcUrls, so the signer cannot read outcomes');
  }
  const texts = new Set((recorded ? shown : decisions).map((one) => JSON.stringify(one)));
  if (texts.size > 1) {
    throw new ChainUnavailable(network, `its signerRpcUrls disagree about ${transactionId}`);
  }
  return first;
}

/** Records that an execution that nobody here has authorized has used a nonce; the first time, with an alarm. */
async function recordUnknown(
  { journal, logger, countUnknownExecution }: SignerContext,
  tx: Tx,
  { transaction: { organizationId, transactionId, accountId, networkId, safeNonce } }: AtNonce,
  unknown: NonNullable<Decision['unknown']>,
): Promise<void> {
  if (!journal.unknownExecutions().some(({ safeTxHash }) => safeTxHash === unknown.safeTxHash)) {
    const entry = { organizationId, accountId, networkId, safeNonce: String(safeNonce), ...unknown };
    await journal.append({ type: 'unknownExecution', ...entry });
    countUnknownExecution();
    logger.error(
      { ...unknown, organizationId, transactionId, accountId, networkId },
      `nonce ${safeNonce} of account ${accountId} was used by ${unknown.safeTxHash}, which this signer has not authorized: see "An outcome is not on chain" in docs/runbook.md`,
    );
  }
  await insertUnknownExecution(tx, { organizationId, accountId, networkId, safeNonce, ...unknown });
}

const UNDECIDED = { outcome: null, blockAt: null } as const;

/** Records what was read about an authorization, in the journal and then in its row; null: it is undecided again. */
export async function recordDecision(
  { journal }: Pick<SignerContext, 'journal'>,
  tx: Tx,
  { organizationId, transactionId }: TransactionRef,
  decision: Pick<Decision, 'outcome' | 'blockAt'> | null,
): Promise<void> {
  const read = decision ? { outcome: decision.outcome, blockAt: decision.blockAt.toISOString() } : UNDECIDED;
  const known = journal.outcomeOf(transactionId) ?? UNDECIDED;
  if (known.outcome !== read.outcome || known.blockAt !== read.blockAt) {
    await journal.append({ type: 'outcome', organizationId, transactionId, ...read });
  }
  await decideAuthorization(tx, transactionId, decision);
}

/**
 * Whether what used a nonce can be called unknown: what is authorized there is in the journal, and no cancellation was
 * signed after the attempts were read, which the next look has.
 */
function isBelieved(
  context: Pick<SignerContext, 'journal'>,
  { transaction, cancellation }: AtNonce,
): boolean {
  const { transactionId } = transaction;
  return (
    isJournaled(context, transaction) &&
    (cancellation !== undefined || !context.journal.isCancelled(transactionId))
  );
}

/** The attempts at the nonce of an authorization, as the signer has made them. Throws SignerRefusal. */
function readAttempts(context: SignerContext, ref: TransactionRef, networkId: number): Promise<AtNonce> {
  return context.db.transaction(async (tx) => {
    const { record } = await readOnNetwork(context, tx, ref, networkId);
    const account = (await assertAccount(context, tx, record)).address as Address;
    const attempts = await attemptsOfTransaction(tx, record.id);
    const transaction = attempts.find(({ kind }) => kind === 'transaction');
    if (!transaction) throw new SignerRefusal('stale', `nothing of transaction ${record.id} is signed`);
    const cancellation = attempts.find(({ kind }) => kind === 'cancellation');
    // Account, network, nonce and hashes decide what was executed.
    assertAttemptOf(record, transaction);
    isJournaled(context, transaction);
    if (cancellation) assertCancellation({ attempt: cancellation, account }, transaction.safeNonce);
    const { signerOutcome, reopenings } = record;
    const envelopes = await envelopesOf(tx, attempts);
    return { account, transaction, cancellation, envelopes, signerOutcome, reopenings };
  });
}

/** What the journal has of an authorization; null while it is undecided. */
function recordedIn(entry: OutcomeEntry | undefined): Decision | null {
  if (!entry?.outcome) return null;
  return { outcome: entry.outcome, blockAt: new Date(entry.blockAt), unknown: null };
}

/** What was read is recorded within this time, or read again: meanwhile the chain may have lost it. */
const RECORD_LIMIT_MS = 10_000;
/** So often, at most. */
const READINGS = 3;

/**
 * Reads what became of an authorization, and records it; an outcome is undecided again where the endpoints show that its
 * nonce is not used, or not confirmed, any more. `search`: also in the logs, where no transaction of ours has it. Returns
 * what is recorded then, null while it is undecided. Throws SignerRefusal (SignerHold when clocks are apart) or
 * ChainUnavailable.
 */
export async function decide(
  context: SignerContext,
  ref: TransactionRef,
  { search = true }: { readonly search?: boolean } = {},
): Promise<AuthorizationOutcome | null> {
  const { journal } = context;
  const { networkId } = await networkAndPolicyOf(context.db, ref);
  for (let reading = 1; reading <= READINGS; reading += 1) {
    const before = journal.outcomeOf(ref.transactionId);
    const recorded = recordedIn(before);
    const at = await readAttempts(context, ref, networkId);
    const decision = await readDecision(context, at, { recorded, search });
    const readAt = performance.now();
    if (decision?.unknown && !isBelieved(context, at)) return null;
    const outcome = decision?.outcome ?? null;
    // Each entry is an object of its own: where it is another one, that was recorded while this read.
    const isCurrent = () => journal.outcomeOf(ref.transactionId) === before;
    const isKnown = decision ? recorded !== null && isSame(decision, recorded) : recorded === null;
    if (isKnown && at.signerOutcome === outcome && isCurrent()) return outcome;
    const isRecorded = await withNetwork(context, networkId, async (tx) => {
      if (!isCurrent()) return false;
      if (performance.now() - readAt > RECORD_LIMIT_MS) return false;
      if (decision?.unknown) await recordUnknown(context, tx, at, decision.unknown);
      await recordDecision(context, tx, ref, decision);
      return true;
    });
    if (isRecorded) return outcome;
  }
  const late = `what became of ${ref.transactionId} could not be recorded in time`;
  throw new ChainUnavailable(networkOf(context, networkId), late);
}

/**
 * Reads from the signer's own endpoints what became of a signed transaction, and records it. Only what the signer has
 * recorded closes a transaction as `failed`, and gives its amount back to the budget.
 */
export async function confirmOutcome(context: SignerContext, ref: TransactionRef): Promise<ConfirmedOutcome> {
  try {
    return { outcome: await decide(context, ref) };
  } catch (error) {
    if (error instanceof SignerRefusal) return { unreachable: `the signer refuses: ${error.message}` };
    if (error instanceof ChainUnavailable) return { unreachable: error.message };
    throw error;
  }
}
