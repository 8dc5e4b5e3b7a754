import { EXECUTION_ENDED } from '../db/announcements';
import type { Notifications } from '../db/notifications';

const WAIT_MS = 10_000;
const POLL_EVERY_MS = 1_000;

/** An approval whose execution is expected to end. */
export interface ExpectedEnd {
  /** Reads the approval once it has ended, or 10 seconds later: whenever an end is announced, and every second in case one was missed. */
  read<T>(look: () => Promise<T>, isOver: (seen: T) => boolean): Promise<T>;
  /** Expects no end any longer. */
  stop(): void;
}

/** Expects the end of an approval's execution from now on. */
export type ExpectEnd = (id: string) => ExpectedEnd;

/** Expects ends that the database announces. */
export function createExecutionWaiter(notifications: Notifications): ExpectEnd {
  return (id) => {
    // Where nothing can be announced, it is looked up at once.
    let isAnnounced = !notifications.connected();
    let wake = () => {};
    const stop = notifications.subscribe(EXECUTION_ENDED, id, () => {
      isAnnounced = true;
      wake();
    });
    const announcement = (limitMs: number) =>
      new Promise<void>((resolve) => {
        if (isAnnounced) return resolve();
        const timer = setTimeout(resolve, limitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    return {
      async read(look, isOver) {
        const deadlineMs = performance.now() + WAIT_MS;
        for (;;) {
          const leftMs = deadlineMs - performance.now();
          await announcement(Math.max(0, Math.min(leftMs, POLL_EVERY_MS)));
          isAnnounced = false;
          const seen = await look();
          if (isOver(seen) || performance.now() >= deadlineMs) return seen;
        }
      },
      stop,
    };
  };
}
