import { listNotedSince } from '../../src/db/approvalNotes';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import { mapLimit } from '../../src/mapLimit';
import type { ApprovalDeps } from '../approvals/subject';

const REFRESHED_AT_ONCE = 20;

/** Notifies the workflows of the approvals that received notes about a proposal's execution. Returns how many. */
export async function refreshNoted(
  { db, refresh }: Pick<ApprovalDeps, 'db' | 'refresh'>,
  { organizationId, id }: ApprovalKey,
): Promise<number> {
  const noted = await listNotedSince(db, { organizationId, proposalId: id });
  await mapLimit(REFRESHED_AT_ONCE, noted, refresh);
  return noted.length;
}
