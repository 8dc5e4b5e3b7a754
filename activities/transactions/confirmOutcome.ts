import type { Address } from 'viem';
import { ask, type ChainClient, ChainUnavailable } from '../../src/chain/clients';
import type { Execution } from '../../src/chain/executions';
import { attemptsOfTransaction, envelopesOf } from '../../src/db/attempts';
import { type AuthorizationOutcome, decideAuthorization } from '../../src/db/authorizations';
import { insertUnknownExecution } from '../../src/db/unknownExecutions';
import type { TransactionRef } from '../../src/domain/transaction';
import type { OutcomeEntry } from '../../src/journal/entries';
import { assertAccount } from '../signer/account';
import { networkOf, type SignerContext } from '../signer/context';
import { SignerRefusal } from '../signer/refusal';
import { findAtNonce, headOf } from './atNonce';
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

/** What one endpoint says was executed at the nonce, once it has the network's confirmations. Throws ChainUnavailable. */
async function decisionOf(chain: ChainClient, at: AtNonce): Promise<Decision | null> {
  const head = await headOf(chain);
  const execution = await findAtNonce(chain, at, head);
  if (!execution || head < execution.blockNumber + BigInt(chain.network.confirmations)) return null;
  const { timestamp } = await ask(chain, (rpc) => rpc.getBlock({ blockHash: execution.blockHash }));
  const blockAt = new Date(Number(timestamp) * 1_000);
  const { safeTxHash, transactionHash } = execution;
  const unknown = isUnknown(at, execution) ? { safeTxHash, transactionHash } : null;
  return { outcome: kindOf(at, execution), blockAt, unknown };
}

/** What all endpoints of the signer say; null unless they agree. Throws ChainUnavailable, also without any endpoint. */
async function readDecision(
  context: SignerContext,
  at: AtNonce,
  networkId: number,
): Promise<Decision | null> {
  const network = networkOf(context, networkId);
  const chains = context.endpointsOf(network);
  const decisions = await Promise.all(chains.map((chain) => decisionOf(chain, at)));
  const [first] = decisions;
  if (first === undefined) {
    throw new ChainUnavailable(network, 'it has no signerRpcUrls, so the signer cannot read outcomes');
  }
  const texts = new Set(decisions.map((one) => JSON.stringify(one)));
  if (texts.size > 1) {
    throw new ChainUnavailable(network, `its signerRpcUrls disagree about ${at.transaction.transactionId}`);
  }
  return first;
}

/** Records that an execution that nobody here has authorized has used a nonce; the first time, with an alarm. */
async function recordUnknown(
  { db, journal, logger, countUnknownExecution }: SignerContext,
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
  await insertUnknownExecution(db, { organizationId, accountId, networkId, safeNonce, ...unknown });
}

/** Records what was read about an authorization, in the journal and in its row. */
async function recordDecision(context: SignerContext, at: AtNonce, decision: Decision): Promise<void> {
  const { db, journal } = context;
  const { organizationId, transactionId } = at.transaction;
  const { outcome } = decision;
  if (decision.unknown) await recordUnknown(context, at, decision.unknown);
  const blockAt = decision.blockAt.toISOString();
  const known = journal.outcomeOf(transactionId);
  if (known?.outcome !== outcome || known.blockAt !== blockAt) {
    await journal.append({ type: 'outcome', organizationId, transactionId, outcome, blockAt });
  }
  await decideAuthorization(db, transactionId, decision);
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

/** Reads what became of an authorization, and records it. Throws SignerRefusal or ChainUnavailable. */
export async function decide(
  context: SignerContext,
  ref: TransactionRef,
): Promise<AuthorizationOutcome | null> {
  const { db } = context;
  const { networkId } = await networkAndPolicyOf(db, ref);
  const at = await db.transaction(async (tx): Promise<AtNonce> => {
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
  const decision = await readDecision(context, at, networkId);
  if (!decision || (decision.unknown && !isBelieved(context, at))) return null;
  await recordDecision(context, at, decision);
  return decision.outcome;
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
