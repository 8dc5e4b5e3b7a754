import type { Envelope } from '../../src/db/chain';

/** The same bytes are sent again this often: a node may have lost them. */
export const RESEND_MS = 5_000;

/** The envelopes that this process has sent, so that later ones do not send them again. */
export interface SendLog {
  /** Records that an envelope was sent now. */
  note(envelope: Pick<Envelope, 'id'>): void;
  /** True when it was sent less than RESEND_MS ago. */
  isRecent(envelope: Pick<Envelope, 'id'>): boolean;
  /** Runs `send`, unless the same envelope is being sent: then it returns that result. */
  once(envelope: Pick<Envelope, 'id'>, send: () => Promise<void>): Promise<void>;
}

/** Creates an empty log. */
export function createSendLog(): SendLog {
  const sentAt = new Map<bigint, number>();
  const inProgress = new Map<bigint, Promise<void>>();
  return {
    note({ id }) {
      const now = Date.now();
      sentAt.delete(id);
      sentAt.set(id, now);
      // A map keeps its order of insertion: the oldest come first.
      for (const [key, at] of sentAt) {
        if (now - at < RESEND_MS) break;
        sentAt.delete(key);
      }
    },
    isRecent: ({ id }) => Date.now() - (sentAt.get(id) ?? 0) < RESEND_MS,
    once({ id }, send) {
      const running = inProgress.get(id);
      if (running) return running;
      const sending = send().finally(() => inProgress.delete(id));
      inProgress.set(id, sending);
      return sending;
    },
  };
}
