import { EXECUTION_ENDED } from '../db/announcements';
import { findExecutionStatus } from '../db/approvals';
import type { Db } from '../db/database';
import type { Notifications } from '../db/notifications';

const WAIT_MS = 10_000;
const POLL_EVERY_MS = 1_000;

/** Waits until the execution of an approval has ended, up to 10 seconds. */
export type WaitForExecution = (id: string) => Promise<void>;

/** Listens for the end of an execution, and polls every second in case it was missed. */
export function createExecutionWaiter(db: Db, notifications: Notifications): WaitForExecution {
  return async (id) => {
    const deadlineMs = performance.now() + WAIT_MS;
    let changed = false;
    let wake = () => {};
    const unsubscribe = notifications.subscribe(EXECUTION_ENDED, id, () => {
      changed = true;
      wake();
    });
    try {
      for (;;) {
        changed = false;
        if ((await findExecutionStatus(db, id)) !== 'processing') return;
        const leftMs = deadlineMs - performance.now();
        if (leftMs <= 0) return;
        if (changed) continue;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(leftMs, POLL_EVERY_MS));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    } finally {
      unsubscribe();
    }
  };
}
