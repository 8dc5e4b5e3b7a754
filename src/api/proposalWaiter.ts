import type { Db } from '../db/database';
import type { Notifications } from '../db/notifications';

const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** Waits until a proposal is no longer being executed, up to 10 seconds. */
export type WaitForProposal = (proposalId: string) => Promise<void>;

/** Listens for the change of a proposal, and looks every half second in case it was missed. */
export function createProposalWaiter(db: Db, notifications: Notifications): WaitForProposal {
  return async (proposalId) => {
    const deadlineMs = Date.now() + WAIT_MS;
    let changed = false;
    let wake = () => {};
    const unsubscribe = notifications.subscribe('proposal_changed', proposalId, () => {
      changed = true;
      wake();
    });
    try {
      for (;;) {
        changed = false;
        const row = await db('proposals').where({ id: proposalId }).first('execution_status');
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
