import type { NoteTarget, OutsideEvent } from '../domain/outsideEvents';
import type { ResourceType } from '../domain/proposal';
import type { Db, Row, Tx } from './database';

function targeted(target: NoteTarget): { condition: string; about: string } {
  if ('all' in target) return { condition: ':about = :about', about: '' };
  if ('subject' in target) return { condition: 'names @> ARRAY[:about]', about: target.subject };
  const condition = `EXISTS (SELECT FROM proposal_votes v
    WHERE v.proposal_id = proposals.id AND v.member_id = :about)`;
  return { condition, about: target.signedBy };
}

/**
 * Notes events on the open proposals of an organization that they concern, apart from the one whose execution caused
 * them. Returns how many notes were written. Call it with the organization's admins locked for change.
 */
export async function noteOnOpenProposals(
  tx: Tx,
  organizationId: string,
  except: string,
  events: readonly OutsideEvent[],
): Promise<number> {
  let written = 0;
  for (const { target, code, message } of events) {
    const { condition, about } = targeted(target);
    const { rowCount } = await tx.raw(
      `UPDATE proposals SET version = version + 1, updated_at = now(),
         notes = notes || jsonb_build_array(jsonb_build_object(
           'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'code', :code::text, 'message', :message::text))
       WHERE organization_id = :organizationId AND closed_at IS NULL AND id <> :except
         AND ${condition.replaceAll(':about', ':about::text')}`,
      { organizationId, except, about, code, message },
    );
    written += rowCount;
  }
  return written;
}

/**
 * The open proposals that were noted on since another of their organization was carried out: their workflows have
 * something to learn.
 */
export async function listNotedSince(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
): Promise<{ proposalId: string; resourceType: ResourceType }[]> {
  const { rows } = await db.raw(
    `SELECT noted.id, noted.resource_type FROM proposals executed
     JOIN proposals noted ON noted.organization_id = executed.organization_id AND noted.id <> executed.id
     WHERE executed.organization_id = ? AND executed.id = ?
       AND noted.closed_at IS NULL AND noted.notes <> '[]' AND noted.updated_at >= executed.applied_at
     ORDER BY noted.id`,
    [organizationId, proposalId],
  );
  return rows.map((row: Row) => ({ proposalId: row.id, resourceType: row.resource_type }));
}
