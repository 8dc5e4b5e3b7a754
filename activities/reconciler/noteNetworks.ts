import { lockAnyApproval } from '../../src/approvals/lockedApproval';
import { updateApproval } from '../../src/db/approvals';
import type { Db } from '../../src/db/database';
import { networkNote, networksUnlikeNoted } from '../../src/domain/networkNotes';
import type { OpenApproval } from '../../src/reconciler/openApprovals';

/** Writes notes on an open approval about networks that are no longer configured, or are again. False when noted or closed. */
export async function noteNetworks(db: Db, approval: OpenApproval): Promise<boolean> {
  const { subject, id, changedNetworks } = approval;
  return db.transaction(async (tx) => {
    const locked = await lockAnyApproval(tx, approval);
    if (!locked || locked.record.closed) return false;
    const { notes } = locked.record;
    const missing = networksUnlikeNoted(subject, changedNetworks, notes);
    if (missing.length === 0) return false;
    const at = locked.time.toISOString();
    const added = missing.map(({ networkId, isGone }) => ({
      at,
      ...networkNote(subject, networkId, isGone),
    }));
    await updateApproval(tx, id, { notes: [...notes, ...added] });
    return true;
  });
}
