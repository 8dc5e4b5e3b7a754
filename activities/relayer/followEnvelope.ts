import type { Hex } from 'viem';
import { type ChainClient, ChainUnavailable, networkLabel } from '../../src/chain/clients';
import { currentFees, isOutbid } from '../../src/chain/fees';
import type { Envelope } from '../../src/db/envelopes';
import type { EnvelopeTerms } from '../../src/domain/terms';
import type { ChainCheck } from './checkEnvelope';
import type { Block, Head } from './heads';
import { findBlocker, gapTerms } from './nonceGaps';
import type { RelayerContext } from './relayerContext';
import { TransactionRejected } from './send';
import { type Sent, sendInOrder } from './sendInOrder';
import { RESEND_MS, relayerKey } from './sendLog';
import { replacementTerms } from './terms';

/** What blocks a followed envelope until the workflow acts. */
export type Obstacle =
  | { readonly kind: 'stuck'; readonly terms: EnvelopeTerms }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  /** Nothing is decided, and what it waits for has changed; null: for the chain alone. */
  | { readonly kind: 'waiting'; readonly message: string | null };

/** An envelope to follow. */
interface EnvelopeFollowed<T> {
  readonly chain: ChainClient;
  readonly envelope: Envelope;
  /** The last report of what it waits for. */
  readonly reported: string | null;
  /** Checks the chain; `head` is the number of the newest block. */
  readonly check: (head: bigint) => Promise<ChainCheck<T>>;
  /** The end where the bytes must not be sent again, else null. Called before each sending but the first. */
  readonly beforeResending?: () => Promise<T | null>;
}

/** How long an obstacle lasts before it is reported. */
const REPORT_AFTER_MS = 5_000;
const MAX_POLL_FACTOR = 16;
const POLL_GROWTH = 1.25;
/** It is checked again without a new block, with pauses that grow by this: an endpoint may lag behind its own newest block. */
const RECHECK_GROWTH = 4;
const MAX_RECHECK_MS = 60_000;
/** The same bytes are sent again without a new block, with pauses that grow up to this. A new block ends the pause. */
const MAX_IDLE_RESEND_MS = 300_000;
/** What is in a block is looked at again so often before it has its confirmations. */
const CONFIRMING_MS = 10_000;

interface Waiting {
  readonly waitingFor: string | null;
}

/** A check of the chain that has not found the end. */
interface Checked {
  readonly at: number;
  /** The newest block then. */
  readonly head: Head;
  /** The number of the block that it is in; null while it is in none. */
  readonly inBlock: bigint | null;
  readonly found: Waiting;
  /** When it is repeated without a new block. */
  readonly againMs: number;
}

interface Progress {
  /** Since when a node has had the bytes and they are in no block, as far as is known; undefined: they were not sent yet. */
  pendingSince?: number;
  /** The number of the newest block at the first check since then. */
  firstHead?: bigint;
  /** When the bytes were last sent, the newest block then, and when they are sent again; undefined: not yet. */
  sent?: { readonly at: number; readonly head: Head; readonly againMs: number } | undefined;
  checked?: Checked | undefined;
  /** The newest block at the last step, which says nothing new; undefined: it failed. */
  newest?: Head | undefined;
  /** The network failed at the last step. */
  failed?: boolean;
  /** Why the bytes were not taken when they were last sent. */
  refusal?: string | undefined;
}

type Step<T> = { readonly end: T | Obstacle } | Waiting;

/** What bytes that a node has just accepted are known to wait for; undefined where the chain has to be looked at. */
function checkedAtSending(
  { chain, envelope }: EnvelopeFollowed<unknown>,
  { head, at, againMs }: { readonly head: Block; readonly at: number; readonly againMs: number },
): Checked | undefined {
  const isIn = head.transactions.includes(envelope.transactionHash as Hex);
  if (isIn && chain.network.confirmations === 0) return undefined;
  return { at, head, inBlock: isIn ? head.number : null, found: { waitingFor: null }, againMs };
}

/** True until the bytes were sent, or could not be. */
function isFirst({ sent, failed, refusal }: Progress): boolean {
  return !sent && !failed && refusal === undefined;
}

/** Sends the bytes, or says why they were not taken: the chain is looked at all the same. Throws ChainUnavailable. */
async function sendOrRefusal(
  context: RelayerContext,
  chain: ChainClient,
  envelope: Envelope,
): Promise<Sent | { readonly refusal: string }> {
  try {
    return await sendInOrder(context, chain, envelope);
  } catch (error) {
    if (error instanceof TransactionRejected) return { refusal: error.message };
    throw error;
  }
}

/** Sends the bytes; the end where they must not be sent, an obstacle where a nonce before them is not used. */
async function sendNow<T>(
  context: RelayerContext,
  followed: EnvelopeFollowed<T>,
  progress: Progress,
): Promise<T | Obstacle | null> {
  const { chain, envelope, beforeResending } = followed;
  const end = isFirst(progress) ? null : await beforeResending?.();
  if (end) return end;
  const sent = await sendOrRefusal(context, chain, envelope);
  const { refusal } = progress;
  progress.refusal = 'refusal' in sent ? sent.refusal : undefined;
  if ('refusal' in sent) {
    progress.sent = undefined;
    return null;
  }
  const { gap, isAccepted } = sent;
  const at = performance.now();
  // It was not pending before.
  if (refusal && isAccepted) Object.assign(progress, { pendingSince: undefined, firstHead: undefined });
  // What was mined just now counts: the newest block is read after it.
  const head = await context.heads.read(chain, at);
  const before = progress.sent;
  const againMs =
    before?.head.hash === head.hash ? Math.min(2 * before.againMs, MAX_IDLE_RESEND_MS) : RESEND_MS;
  progress.sent = { at, head, againMs };
  // While the network was unavailable it was not pending.
  progress.pendingSince ??= at;
  progress.firstHead ??= head.number;
  progress.failed = false;
  progress.checked = isAccepted
    ? checkedAtSending(followed, { head, at, againMs: context.pollMs })
    : undefined;
  const terms = gap && (await gapTerms(chain, gap));
  return gap && terms ? { kind: 'gap', nonce: gap.nonce, terms } : null;
}

/** The step for an envelope that has been pending for long, or was refused for long. */
async function unblock<T>(
  context: RelayerContext,
  { chain, envelope }: EnvelopeFollowed<T>,
  { refusal }: Progress,
): Promise<Step<T>> {
  const of = `of relayer ${envelope.relayerAddress} on ${networkLabel(chain)}`;
  const blocker = await findBlocker(context.db, chain, envelope);
  if (blocker === 'others') return { waitingFor: refusal ?? `waiting for earlier transactions ${of}` };
  if (blocker === 'nothing') {
    const fees = await currentFees(chain);
    // What is refused for another reason than its fee gets none that is above the network's.
    if (refusal && !isOutbid(fees, envelope)) return { waitingFor: refusal };
    const terms = replacementTerms(chain, fees, envelope);
    if (terms) return { end: { kind: 'stuck', terms } };
    return {
      waitingFor: `pending on ${networkLabel(chain)}, and its fee is at the ceiling (maxFeePerGas of the network)`,
    };
  }
  const terms = await gapTerms(chain, blocker);
  if (terms) return { end: { kind: 'gap', nonce: blocker.nonce, terms } };
  return { waitingFor: refusal ?? `waiting for nonce ${blocker.nonce} ${of}` };
}

/** Looks at the chain: the end, or what it waits for. */
async function check<T>(
  context: RelayerContext,
  followed: EnvelopeFollowed<T>,
  progress: Progress,
  head: Block,
): Promise<Step<T>> {
  const at = performance.now();
  progress.pendingSince ??= at;
  progress.firstHead ??= head.number;
  const seen = await followed.check(head.number);
  if ('end' in seen) return seen;
  const before = progress.checked;
  // Its block is lost: the same bytes are sent again before anything else is signed.
  const isLost = before !== undefined && before.inBlock !== null && seen.inBlock === null;
  if (isLost) Object.assign(progress, { pendingSince: at, firstHead: head.number });
  // A chain without new blocks includes nothing, whatever the fee; or it makes none, because nobody pays enough.
  const isUnderpriced = (head.baseFeePerGas ?? 0n) > followed.envelope.maxFeePerGas;
  const isForFee = head.number > progress.firstHead || isUnderpriced;
  const isStuck = at - progress.pendingSince >= context.stuckAfterMs && isForFee;
  const found =
    isStuck && seen.inBlock === null ? await unblock(context, followed, progress) : { waitingFor: null };
  if ('end' in found) return found;
  const grown =
    before?.head.hash === head.hash ? before.againMs * RECHECK_GROWTH : context.pollMs * RECHECK_GROWTH;
  progress.checked = { at, head, inBlock: seen.inBlock, found, againMs: Math.min(grown, MAX_RECHECK_MS) };
  progress.failed = false;
  return found;
}

/** Whether the last check still says what there is to know at the newest block. */
function isCurrent({ network }: ChainClient, checked: Checked, head: Head): boolean {
  const ageMs = performance.now() - checked.at;
  if (checked.head.hash === head.hash) return ageMs < checked.againMs;
  const { inBlock } = checked;
  const isConfirming =
    inBlock !== null &&
    head.number > checked.head.number &&
    head.number < inBlock + BigInt(network.confirmations);
  return isConfirming && ageMs < CONFIRMING_MS;
}

/** Whether the bytes are sent again: a chain that goes on has lost them, or has no room for them. */
function isDue({ sent, checked }: Progress, head: Head | undefined): boolean {
  if (!sent) return true;
  if (checked && checked.inBlock !== null) return false;
  const ageMs = performance.now() - sent.at;
  return ageMs >= sent.againMs || (head?.hash !== sent.head.hash && ageMs >= RESEND_MS);
}

/** Sends and checks what is due. Those who follow something of one relayer take turns: a thousand leave room for others. */
async function step<T>(
  context: RelayerContext,
  followed: EnvelopeFollowed<T>,
  progress: Progress,
  signal: AbortSignal,
): Promise<Step<T>> {
  const { heads, turns, networkTurns } = context;
  const { chain, envelope } = followed;
  const { checked } = progress;
  const relayer = relayerKey(chain.network.id, envelope.relayerAddress);
  const isNew = isFirst(progress);
  try {
    const head = isNew ? undefined : await heads.read(chain);
    progress.newest = head;
    const isKnown = head && checked && isCurrent(chain, checked, head);
    if (isKnown && !isDue(progress, head)) return checked.found;
    // What is new does not wait behind all that is checked again.
    const kind = isNew ? 'new' : 'known';
    return await turns.run(`${relayer}/${kind}`, null, () =>
      networkTurns.run(`${chain.network.id}/${kind}`, null, async () => {
        signal.throwIfAborted();
        const end = isDue(progress, head) ? await sendNow(context, followed, progress) : null;
        if (end) return { end };
        const newest = await heads.read(chain);
        progress.newest = newest;
        const known = progress.checked;
        if (known && isCurrent(chain, known, newest)) return known.found;
        return check(context, followed, progress, newest);
      }),
    );
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    Object.assign(progress, { sent: undefined, checked: undefined, newest: undefined, failed: true });
    return { waitingFor: error.message };
  }
}

/**
 * Sends a stored envelope and checks the chain until `check` finds the end. It returns earlier only to report
 * something new: what it waits for, that it is stuck and needs a higher fee, or that an earlier nonce of the relayer
 * has to be filled. Throws the reason of `signal`.
 */
export async function followEnvelope<T>(
  context: RelayerContext,
  followed: EnvelopeFollowed<T>,
  signal: AbortSignal,
): Promise<T | Obstacle> {
  const progress: Progress = {};
  let message: string | null = null;
  let messageSince = performance.now();
  let everyMs = context.pollMs;
  for (;;) {
    signal.throwIfAborted();
    const now = performance.now();
    const result = await step(context, followed, progress, signal);
    if ('end' in result) return result.end;
    // Once it has been refused for long, what was found about that says more than the node.
    const waitingFor = progress.failed ? result.waitingFor : (result.waitingFor ?? progress.refusal ?? null);
    if (waitingFor !== message) {
      message = waitingFor;
      messageSince = now;
    }
    if (message !== followed.reported && now - messageSince >= REPORT_AFTER_MS) {
      return { kind: 'waiting', message };
    }
    const longestMs = context.pollMs * MAX_POLL_FACTOR;
    const atMostMs = Math.min(progress.checked?.againMs ?? everyMs, longestMs);
    await context.heads.changed(followed.chain, { than: progress.newest, everyMs, atMostMs, signal });
    everyMs = Math.min(everyMs * POLL_GROWTH, longestMs);
  }
}
