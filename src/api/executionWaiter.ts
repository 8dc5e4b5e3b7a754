import type { Db } from '../db/database';
import type { Notifications } from '../db/notifications';

const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** Waits until a record is no longer being executed, up to 10 seconds. */
export type WaitForExecution = (id: string) => Promise<void>;

/** Where executions are recorded, and what is announced when one changes. */
const KINDS = {
  proposal: { table: 'proposals', channel: 'proposal_changed' },
  transaction: { table: 'transactions', channel: 'transaction_changed' },
} as const;

/** The channels on which the waiters listen. */
export const EXECUTION_CHANNELS = Object.values(KINDS).map(({ channel }) => channel);

/** Listens for the change of a record, and looks every half second in case it was missed. */
export function createExecutionWaiter(
  db: Db,
  notifications: Notifications,
  kind: keyof typeof KINDS,
): WaitForExecution {
  const { table, channel } = KINDS[kind];
  return async (id) => {
    const deadlineMs = Date.now() + WAIT_MS;
    let changed = false;
    let wake = () => {};
    const unsubscribe = notifications.subscribe(channel, id, () => {
      changed = true;
      wake();
    });
    try {
      for (;;) {
        changed = false;
        const row = await db(table).where({ id }).first('execution_status');
        if (row?.execution_status !== 'processing') return;
        const leftMs = deadlineMs - Date.now();
        if (leftMs <= 0) return;
        if (changed) continue;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(leftMs, LOOK_EVERY_MS));
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
