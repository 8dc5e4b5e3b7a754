import type { ApprovalRef } from '../domain/approvalRef';
import type { ExternalEvent, NoteTarget } from '../domain/externalEvents';
import { approvalRef, type RefColumns } from './approvalRefs';
import type { Db, Tx } from './database';
import { execute, queryRows } from './rows';

const signedBy = 'EXISTS (SELECT FROM votes v WHERE v.approval_id = approvals.id AND v.member_id = :about)';
// A change of a member concerns the transactions that they have signed, too.
const names = `(names @> ARRAY[:about] OR (subject = 'transaction' AND EXISTS (SELECT FROM votes v
  WHERE v.approval_id = approvals.id AND 'member:' || v.member_id = :about)))`;

function targeted(target: NoteTarget): { condition: string; about: string } {
  if ('subject' in target) return { condition: names, about: target.subject };
  // Admins decide proposals only.
  if ('signedBy' in target) {
    return { condition: `subject = 'proposal' AND ${signedBy}`, about: target.signedBy };
  }
  return { condition: `subject = 'proposal' AND :about = ''`, about: '' };
}

/**
 * Notes events on the open approvals of an organization that they concern, apart from the proposal whose execution
 * caused them. Returns how many notes were written. Call it with the organization's admins locked for change.
 */
export async function noteOnOpenApprovals(
  tx: Tx,
  organizationId: string,
  except: string,
  events: readonly ExternalEvent[],
): Promise<number> {
  let written = 0;
  for (const { target, code, message } of events) {
    const { condition, about } = targeted(target);
    written += await execute(
      tx,
      `UPDATE approvals SET version = version + 1, updated_at = now(),
         notes = notes || jsonb_build_array(jsonb_build_object(
           'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'code', :code::text, 'message', :message::text))
       WHERE organization_id = :organizationId AND closed_at IS NULL AND id <> :except
         AND ${condition.replaceAll(':about', ':about::text')}`,
      { organizationId, except, about, code, message },
    );
  }
  return written;
}

/** The open approvals with notes since a proposal of their organization was applied: their workflows refresh. */
export async function listNotedSince(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
): Promise<ApprovalRef[]> {
  const rows = await queryRows<RefColumns>(
    db,
    `SELECT noted.id, noted.organization_id, noted.subject, p.resource_type, p.action
     FROM approvals noted LEFT JOIN proposals p ON p.id = noted.id
     JOIN proposals executed ON executed.id = :proposalId AND noted.updated_at >= executed.applied_at
     WHERE noted.organization_id = :organizationId AND noted.id <> :proposalId
       AND noted.closed_at IS NULL AND noted.notes <> '[]' ORDER BY noted.id`,
    { organizationId, proposalId },
  );
  return rows.map(approvalRef);
}
