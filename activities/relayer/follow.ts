import { Context } from '@temporalio/activity';
import { ask, type ChainClient, ChainUnavailable, networkLabel } from '../../src/chain/clients';
import type { Envelope } from '../../src/db/chain';
import type { RelayerContext } from './context';
import type { ChainCheck } from './envelopes';
import { findBlocker, gapTerms } from './nonceGaps';
import { TransactionRejected } from './send';
import { sendInOrder } from './sendInOrder';
import { RESEND_MS } from './sendLog';
import { type EnvelopeTerms, replacementTerms } from './terms';

/** What blocks a followed envelope until the workflow acts. */
export type Obstacle =
  | { readonly kind: 'stuck'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  /** Nothing is decided, and what it waits for has changed; null: for the chain alone. */
  | { readonly kind: 'waiting'; readonly message: string | null };

/** An envelope to follow. */
export interface Followed<T> {
  readonly chain: ChainClient;
  readonly envelope: Envelope;
  /** The last report of what it waits for. */
  readonly reported: string | null;
  /** Checks the chain; `head` is the number of the newest block. */
  readonly check: (head: bigint) => Promise<ChainCheck<T>>;
}

/** How long an obstacle lasts before it is reported. */
const REPORT_AFTER_MS = 5_000;
const MAX_POLL_FACTOR = 16;
const POLL_GROWTH = 1.25;

interface Progress {
  readonly begunAt: number;
  /** The newest block at the first check. */
  firstHead?: bigint;
  /** When the bytes were last sent; undefined: not yet. */
  sentAt: number | undefined;
}

type Step<T> = { readonly end: T | Obstacle } | { readonly waitingFor: string | null };

async function sendWhenDue<T>(
  context: RelayerContext,
  { chain, envelope }: Followed<T>,
  progress: Progress,
): Promise<Obstacle | null> {
  const now = Date.now();
  if (progress.sentAt !== undefined && now - progress.sentAt < RESEND_MS) return null;
  const gap = await sendInOrder(context, chain, envelope);
  progress.sentAt = now;
  const terms = gap && (await gapTerms(chain, gap));
  return gap && terms ? { kind: 'gap', nonce: gap.nonce, terms } : null;
}

/** The step for an envelope that has been pending for long. */
async function unblock<T>(context: RelayerContext, { chain, envelope }: Followed<T>): Promise<Step<T>> {
  const of = `of relayer ${envelope.relayerAddress} on ${networkLabel(chain)}`;
  const blocker = await findBlocker(context.db, chain, envelope);
  if (blocker === 'others') return { waitingFor: `waiting for earlier transactions ${of}` };
  if (blocker === 'nothing') {
    const terms = await replacementTerms(chain, envelope);
    if (terms) return { end: { kind: 'stuck', terms } };
    return {
      waitingFor: `pending on ${networkLabel(chain)}, and its fee is at the ceiling (maxFeePerGas of the network)`,
    };
  }
  const terms = await gapTerms(chain, blocker);
  if (terms) return { end: { kind: 'gap', nonce: blocker.nonce, terms } };
  return { waitingFor: `waiting for nonce ${blocker.nonce} ${of}` };
}

async function step<T>(context: RelayerContext, followed: Followed<T>, progress: Progress): Promise<Step<T>> {
  try {
    const gap = await sendWhenDue(context, followed, progress);
    if (gap) return { end: gap };
    const head = await ask(followed.chain, (rpc) => rpc.getBlockNumber());
    progress.firstHead ??= head;
    const seen = await followed.check(head);
    if ('end' in seen) return seen;
    // A chain without new blocks includes nothing, whatever the fee.
    const isStuck = Date.now() - progress.begunAt >= context.stuckAfterMs && head > progress.firstHead;
    return isStuck && !seen.inBlock ? await unblock(context, followed) : { waitingFor: null };
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof TransactionRejected)) throw error;
    progress.sentAt = undefined;
    return { waitingFor: error.message };
  }
}

/**
 * Sends a stored envelope and checks the chain until `check` finds the end. It returns earlier only to report
 * something new: what it waits for, that it is stuck and needs a higher fee, or that an earlier nonce of the relayer
 * has to be filled.
 */
export async function follow<T>(context: RelayerContext, followed: Followed<T>): Promise<T | Obstacle> {
  const activity = Context.current();
  const progress: Progress = { begunAt: Date.now(), sentAt: undefined };
  let message: string | null = null;
  let messageSince = progress.begunAt;
  let pauseMs = context.pollMs;
  for (;;) {
    const now = Date.now();
    const result = await step(context, followed, progress);
    if ('end' in result) return result.end;
    if (result.waitingFor !== message) {
      message = result.waitingFor;
      messageSince = now;
    }
    if (message !== followed.reported && now - messageSince >= REPORT_AFTER_MS) {
      return { kind: 'waiting', message };
    }
    activity.heartbeat();
    await activity.sleep(pauseMs);
    pauseMs = Math.min(pauseMs * POLL_GROWTH, context.pollMs * MAX_POLL_FACTOR);
  }
}
