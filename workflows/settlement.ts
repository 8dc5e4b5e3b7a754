import { proxyActivities } from '@temporalio/workflow';
import type { Waiting } from '../activities/approvals/wait';
import type { EnvelopeTerms } from '../src/domain/terms';
import type { SignerActivities } from '../src/signer/activities';
import type { SigningResult } from '../src/signer/refusal';
import { networkQueue } from '../src/temporal/ids';
import { type Asking, type Backoff, createBackoff } from './backoff';

/** The task queues for one network, and the report of what the execution waits for. */
export interface SettlementContext {
  readonly networkId: number;
  readonly queues: { readonly chain: string; readonly signer: string };
  readonly report: (waiting: Waiting) => Promise<void>;
}

/** The state on chain, which determines the next step. `Need` describes what to sign. */
export type Observed<Result, Need> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  /** `attempted`: something was signed before, so that it can reach the chain whatever is done. */
  | { readonly kind: 'needsEnvelope'; readonly need: Need; readonly attempted: boolean }
  | { readonly kind: 'confirming' | 'unreachable'; readonly message: string };

/** The outcome of following an envelope. */
export type Followed<Result, Need> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'stuck'; readonly need: Need }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  | { readonly kind: 'waiting'; readonly message: string | null }
  /** The envelope can no longer be included, or is in a block: the chain is observed again. */
  | { readonly kind: 'ended' };

type Refused = Extract<SigningResult, { refused: object }>['refused'];

/** One effect on one chain, as its subject sees it. */
export interface Effect<Result, Need> {
  /** How many checks that find only confirmations missing are not reported. */
  readonly unreportedChecks: number;
  /** The shortest pause between two checks, in milliseconds. */
  readonly firstPauseMs: number;
  observe(): Promise<Observed<Result, Need>>;
  /** A second call with the same need returns the envelope of the first. */
  sign(need: Need): Promise<SigningResult>;
  follow(envelopeId: string, reported: string | null): Promise<Followed<Result, Need>>;
  /** The result when the signer refuses before anything was signed. */
  refused(refusal: Refused): Result;
  /** The result when the network stays unavailable before anything was signed. */
  unavailable(message: string): Result;
}

/** The next step: the result, an envelope to follow, or another observation. */
type Next<Result> = { readonly result: Result } | { readonly envelopeId: string } | 'observe';

/** Nothing is signed yet: the network is retried for a while, and then that is the result. */
async function retryUnavailable<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  asking: Asking,
  message: string,
): Promise<Next<Result>> {
  const isRetried = await backoff.retryUnavailable(asking, message);
  return isRetried ? 'observe' : { result: effect.unavailable(message) };
}

async function sign<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  { need, attempted }: Extract<Observed<Result, Need>, { kind: 'needsEnvelope' }>,
): Promise<Next<Result>> {
  const signed = await effect.sign(need);
  if (!('unreachable' in signed)) backoff.answered('signer');
  if ('envelopeId' in signed) return signed;
  if ('held' in signed) {
    await backoff.report(signed.held, signed.reason);
    await backoff.pause('Retry the signer');
    return 'observe';
  }
  if (!attempted) {
    if ('refused' in signed) return { result: effect.refused(signed.refused) };
    return retryUnavailable(effect, backoff, 'signer', signed.unreachable);
  }
  // An earlier envelope can still be included, whatever the signer's reason.
  await backoff.report(
    'refused' in signed ? `the signer refuses to continue: ${signed.refused.message}` : signed.unreachable,
  );
  await backoff.pause('Retry the signer');
  return 'observe';
}

/** Follows an envelope until there is something to do. The waiting is in the activity, so that the history stays short. */
async function follow<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  envelopeId: string,
): Promise<Exclude<Followed<Result, Need>, { kind: 'waiting' }>> {
  for (;;) {
    const followed = await effect.follow(envelopeId, backoff.reported());
    if (followed.kind !== 'waiting') return followed;
    await backoff.report(followed.message);
  }
}

/** Observes the chain and takes the next step, up to an envelope that can be followed. */
async function advance<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  checks: { confirming: number },
): Promise<Next<Result>> {
  const seen = await effect.observe();
  if (seen.kind !== 'unreachable') backoff.answered('chain');
  switch (seen.kind) {
    case 'done':
      return { result: seen.result };
    case 'inFlight':
      return seen;
    case 'needsEnvelope':
      return sign(effect, backoff, seen);
    case 'unreachable':
      return retryUnavailable(effect, backoff, 'chain', seen.message);
    case 'confirming':
      checks.confirming += 1;
      if (checks.confirming > effect.unreportedChecks) await backoff.report(seen.message);
      await backoff.pause('Confirmations');
      return 'observe';
  }
}

/** Unblocks an envelope: raises its fee, or fills an earlier nonce. */
async function unblock<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  followed: Extract<Followed<Result, Need>, { kind: 'stuck' | 'gap' }>,
  fillNonce: SignerActivities['fillNonce'],
  networkId: number,
): Promise<void> {
  if (followed.kind === 'stuck') {
    // If the signer does not raise the fee, the sent bytes may still be included.
    const raised = await effect.sign(followed.need);
    if ('held' in raised) await backoff.report(raised.held, raised.reason);
    if (!('envelopeId' in raised)) await backoff.pause('Raise the fee later');
    return;
  }
  const { nonce, terms } = followed;
  const filled = await fillNonce({ networkId, nonce, terms });
  if ('held' in filled) await backoff.report(filled.held, filled.reason);
  if (!('envelopeId' in filled)) await backoff.pause(`Fill nonce ${nonce} later`);
}

/**
 * Brings about one effect on one chain, from any state: not begun, in flight, or done. Nothing is
 * signed twice for the same need, and nothing is sent that is not stored. It ends when the chain has decided, or when
 * nothing has been signed and nothing can be: while something signed could still reach the chain it goes on.
 */
export async function settle<Result, Need>(
  effect: Effect<Result, Need>,
  { networkId, queues, report }: SettlementContext,
): Promise<Result> {
  const { fillNonce } = proxyActivities<SignerActivities>({
    taskQueue: networkQueue(queues.signer, networkId),
    startToCloseTimeout: '30s',
    // A second call returns the envelope of the first; a refusal is a result and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Fill a nonce of the relayer of network ${networkId}`,
  });
  const backoff = createBackoff({ networkId, firstPauseMs: effect.firstPauseMs, report });
  const checks = { confirming: 0 };
  for (;;) {
    const next = await advance(effect, backoff, checks);
    if (next === 'observe') continue;
    if ('result' in next) return next.result;
    backoff.reset();
    const followed = await follow(effect, backoff, next.envelopeId);
    if (followed.kind === 'done') return followed.result;
    if (followed.kind !== 'ended') await unblock(effect, backoff, followed, fillNonce, networkId);
    await backoff.report(null);
  }
}
