import type { Envelope } from '../../src/db/envelopes';

/** The key of a relayer in what a process shares. */
export function relayerKey(networkId: number, relayerAddress: string): string {
  return `${networkId}/${relayerAddress}`;
}

/** The same bytes are sent again after this: a node may have lost them. */
export const RESEND_MS = 5_000;
/** Pauses grow up to this while nothing comes of it. */
const MAX_RESEND_MS = 60_000;

/** Nonces of a relayer. */
interface Nonces extends Pick<Envelope, 'networkId' | 'relayerAddress'> {
  readonly fromNonce: number;
  readonly toNonce: number;
}

/** The envelopes that this process has sent, so that later ones do not send them again. */
export interface SendLog {
  /** Records that an envelope was sent now. */
  note(envelope: Pick<Envelope, 'id' | 'networkId' | 'relayerAddress' | 'relayerNonce'>): void;
  /** True when each of these nonces was sent at most 5 s ago. */
  areRecent(nonces: Nonces): boolean;
  /** True for 5 s after it was sent, after each further time for twice as long, up to a minute. */
  isRecent(envelope: Pick<Envelope, 'id'>): boolean;
  /** True when it was ever sent by this process, as far as that is remembered. */
  isKnown(envelope: Pick<Envelope, 'id'>): boolean;
  /** Records that an envelope was sent ahead of a later one, and not by whoever follows it. */
  noteAhead(envelope: Pick<Envelope, 'id'>): void;
  /** True once for an envelope that was sent ahead a moment ago: it need not be sent again. */
  takeAhead(envelope: Pick<Envelope, 'id'>): boolean;
  /** Runs `send`, unless the same envelope is being sent: then it returns that result. */
  once(envelope: Pick<Envelope, 'id'>, send: () => Promise<boolean>): Promise<boolean>;
}

/** Creates an empty log. */
export function createSendLog(): SendLog {
  const sent = new Map<bigint, { readonly at: number; readonly pauseMs: number }>();
  const ahead = new Map<bigint, number>();
  /** When nonces were last sent, by network and relayer. */
  const sentNonces = new Map<string, Map<number, number>>();
  const inProgress = new Map<bigint, Promise<boolean>>();
  return {
    note({ id, networkId, relayerAddress, relayerNonce }) {
      const at = performance.now();
      const nonces = sentNonces.get(relayerKey(networkId, relayerAddress)) ?? new Map<number, number>();
      sentNonces.set(relayerKey(networkId, relayerAddress), nonces);
      nonces.delete(relayerNonce);
      nonces.set(relayerNonce, at);
      for (const [nonce, old] of nonces) {
        if (at - old < RESEND_MS) break;
        nonces.delete(nonce);
      }
      const before = sent.get(id);
      sent.delete(id);
      sent.set(id, { at, pauseMs: before ? Math.min(2 * before.pauseMs, MAX_RESEND_MS) : RESEND_MS });
      // A map keeps its order of insertion: the oldest come first.
      for (const [key, old] of sent) {
        if (at - old.at < 2 * MAX_RESEND_MS) break;
        sent.delete(key);
        ahead.delete(key);
      }
    },
    isRecent({ id }) {
      const last = sent.get(id);
      return last !== undefined && performance.now() - last.at < last.pauseMs;
    },
    areRecent({ networkId, relayerAddress, fromNonce, toNonce }) {
      const since = performance.now() - RESEND_MS;
      const nonces = sentNonces.get(relayerKey(networkId, relayerAddress));
      for (let nonce = fromNonce; nonce <= toNonce; nonce += 1) {
        if ((nonces?.get(nonce) ?? Number.NEGATIVE_INFINITY) < since) return false;
      }
      return true;
    },
    isKnown: ({ id }) => sent.has(id),
    noteAhead({ id }) {
      ahead.set(id, performance.now());
    },
    takeAhead({ id }) {
      const at = ahead.get(id);
      ahead.delete(id);
      return at !== undefined && performance.now() - at < RESEND_MS;
    },
    once({ id }, send) {
      const running = inProgress.get(id);
      if (running) return running;
      const sending = send().finally(() => inProgress.delete(id));
      inProgress.set(id, sending);
      return sending;
    },
  };
}
