import { proxyActivities } from '@temporalio/workflow';
import type { EnvelopeTerms } from '../activities/relayer/terms';
import type { SigningResult } from '../activities/signer/refusal';
import type { SignerActivities } from '../activities/signer/signer';
import { type Backoff, createBackoff } from './backoff';

/** Where the activities for one network run, and where to report what is waited for (null: nothing any more). */
export interface SettlementContext {
  readonly networkId: number;
  readonly queues: { readonly chain: string; readonly signer: string };
  readonly report: (waitingFor: string | null) => Promise<void>;
}

/** What was found on the chain, and so what the next step is. `Need` says what is to be signed. */
export type Observed<Result, Need> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  /** `attempted`: something was signed before, so that it can reach the chain whatever is done. */
  | { readonly kind: 'needsEnvelope'; readonly need: Need; readonly attempted: boolean }
  | { readonly kind: 'confirming' | 'unreachable'; readonly message: string };

/** What became of an envelope while it was followed. */
export type Followed<Result, Need> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'stuck'; readonly need: Need }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  | { readonly kind: 'waiting'; readonly message: string | null }
  /** The envelope came to nothing, or is in a block: the chain is looked at again. */
  | { readonly kind: 'ended' };

type Refused = Extract<SigningResult, { refused: object }>['refused'];

/** One effect on one chain, as its subject sees it. */
export interface Effect<Result, Need> {
  /** How many looks at an effect that only lacks confirmations go unreported. */
  readonly quietLooks: number;
  /** The shortest pause between two looks, in milliseconds. */
  readonly firstPauseMs: number;
  observe(): Promise<Observed<Result, Need>>;
  /** A second call with the same need answers the envelope of the first. */
  sign(need: Need): Promise<SigningResult>;
  follow(envelopeId: string, reported: string | null): Promise<Followed<Result, Need>>;
  /** The result when the signer refuses before anything was signed. */
  refused(refusal: Refused): Result;
  /** The result when the network stays unavailable before anything was signed. */
  unavailable(message: string): Result;
}

/** What a step leads to: the result, an envelope to follow, or another look. */
type Next<Result> = { readonly result: Result } | { readonly envelopeId: string } | 'look';

/** Nothing is signed yet: the network is retried for a while, and then that is the result. */
async function retryUnavailable<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  message: string,
): Promise<Next<Result>> {
  return (await backoff.retryUnavailable(message)) ? 'look' : { result: effect.unavailable(message) };
}

async function sign<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  { need, attempted }: Extract<Observed<Result, Need>, { kind: 'needsEnvelope' }>,
): Promise<Next<Result>> {
  const signed = await effect.sign(need);
  if ('envelopeId' in signed) return signed;
  if (!attempted) {
    if ('refused' in signed) return { result: effect.refused(signed.refused) };
    return retryUnavailable(effect, backoff, signed.unreachable);
  }
  // What was signed before can still land, whatever keeps the signer from carrying it on.
  await backoff.report(
    'refused' in signed ? `the signer does not carry it on: ${signed.refused.message}` : signed.unreachable,
  );
  await backoff.pause('Ask the signer again');
  return 'look';
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

/** Looks at the chain and does what is next, up to an envelope that can be followed. */
async function advance<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  looks: { confirming: number },
): Promise<Next<Result>> {
  const seen = await effect.observe();
  switch (seen.kind) {
    case 'done':
      return { result: seen.result };
    case 'inFlight':
      return seen;
    case 'needsEnvelope':
      return sign(effect, backoff, seen);
    case 'unreachable':
      return retryUnavailable(effect, backoff, seen.message);
    case 'confirming':
      looks.confirming += 1;
      if (looks.confirming > effect.quietLooks) await backoff.report(seen.message);
      await backoff.pause('Confirmations');
      return 'look';
  }
}

/** Does what keeps an envelope from being decided needs: a higher fee, or an earlier nonce filled. */
async function unblock<Result, Need>(
  effect: Effect<Result, Need>,
  backoff: Backoff,
  followed: Extract<Followed<Result, Need>, { kind: 'stuck' | 'gap' }>,
  fillNonce: SignerActivities['fillNonce'],
  networkId: number,
): Promise<void> {
  if (followed.kind === 'stuck') {
    // Whatever keeps the signer from raising the fee, the bytes that are out may still land.
    const raised = await effect.sign(followed.need);
    if (!('envelopeId' in raised)) await backoff.pause('Raise the fee later');
    return;
  }
  const { nonce, terms } = followed;
  const filled = await fillNonce({ networkId, nonce, terms });
  if (!('envelopeId' in filled)) await backoff.pause(`Fill nonce ${nonce} later`);
}

/**
 * Brings about one effect on one chain, whatever state it is found in: not begun, in flight, or there. Nothing is
 * signed twice for the same need, and nothing is sent that is not stored. It ends when the chain has decided, or when
 * nothing has been signed and nothing can be: while something signed could still reach the chain it goes on.
 */
export async function settle<Result, Need>(
  effect: Effect<Result, Need>,
  { networkId, queues, report }: SettlementContext,
): Promise<Result> {
  const { fillNonce } = proxyActivities<SignerActivities>({
    taskQueue: queues.signer,
    startToCloseTimeout: '30s',
    // A second call answers the envelope of the first; a refusal is an answer and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Fill a nonce of the relayer of network ${networkId}`,
  });
  const backoff = createBackoff({ networkId, firstPauseMs: effect.firstPauseMs, report });
  const looks = { confirming: 0 };
  for (;;) {
    const next = await advance(effect, backoff, looks);
    if (next === 'look') continue;
    if ('result' in next) return next.result;
    backoff.reset();
    const followed = await follow(effect, backoff, next.envelopeId);
    if (followed.kind === 'done') return followed.result;
    if (followed.kind !== 'ended') await unblock(effect, backoff, followed, fillNonce, networkId);
    await backoff.report(null);
  }
}
