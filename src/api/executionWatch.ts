import { EXECUTION_ENDED } from '../db/announcements';
import type { Notifications } from '../db/notifications';

const WAIT_MS = 10_000;
/** Left for loading and sending what was waited for. */
const ANSWER_MS = 1_000;
/** The first pause between two looks, doubled for each that follows: an announcement is missed only in a crash. */
const FIRST_POLL_MS = 1_000;

/** The execution of an approval, watched until `stop`. */
interface ExecutionWatch {
  /**
   * Loads the approval until it has ended: on each announcement, and ever less often in case one was missed. At most 10 s,
   * and less where the request has to be answered at `deadlineMs`, a time of `performance.now()`.
   */
  waitUntil<T>(isOver: (seen: T) => boolean, load: () => Promise<T>, deadlineMs: number): Promise<T>;
  stop(): void;
}

/** Watches the execution of an approval from now on. */
export type WatchExecution = (id: string) => ExecutionWatch;

/** Watches executions by what the database announces. */
export function createExecutionWatch(notifications: Notifications): WatchExecution {
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
      async waitUntil(isOver, load, deadlineMs) {
        const endMs = Math.min(performance.now() + WAIT_MS, deadlineMs - ANSWER_MS);
        for (let pollMs = FIRST_POLL_MS; ; pollMs *= notifications.connected() ? 2 : 1) {
          const leftMs = endMs - performance.now();
          await announcement(Math.max(0, Math.min(leftMs, pollMs)));
          isAnnounced = false;
          const seen = await load();
          if (isOver(seen) || performance.now() >= endMs) return seen;
        }
      },
      stop,
    };
  };
}
