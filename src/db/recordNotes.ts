import type { NoteTarget, OutsideEvent } from '../domain/outsideEvents';
import type { RecordRef } from '../domain/reconciliation';
import type { Db, Row, Tx } from './database';

function targeted(target: NoteTarget): { condition: string; about: string } {
  if ('all' in target) return { condition: ':about = :about', about: '' };
  if ('subject' in target) return { condition: 'names @> ARRAY[:about]', about: target.subject };
  const condition = `EXISTS (SELECT FROM proposal_votes v
    WHERE v.proposal_id = proposals.id AND v.member_id = :about)`;
  return { condition, about: target.signedBy };
}

/**
 * Notes events on the open records of an organization that they concern, apart from the proposal whose execution
 * caused them. What an event says of admins concerns proposals only. Returns how many notes were written. Call it with
 * the organization's admins locked for change.
 */
export async function noteOnOpenRecords(
  tx: Tx,
  organizationId: string,
  except: string,
  events: readonly OutsideEvent[],
): Promise<number> {
  let written = 0;
  for (const { target, code, message } of events) {
    const { condition, about } = targeted(target);
    const note = async (table: 'proposals' | 'transactions') => {
      const { rowCount } = await tx.raw(
        `WITH noted AS (
           UPDATE ${table} SET version = version + 1, updated_at = now(),
             notes = notes || jsonb_build_array(jsonb_build_object(
               'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'code', :code::text, 'message', :message::text))
           WHERE organization_id = :organizationId AND closed_at IS NULL AND id <> :except
             AND ${condition.replaceAll(':about', ':about::text')}
           RETURNING id
         ) SELECT pg_notify(:channel, id) FROM noted`,
        { organizationId, except, about, code, message, channel: `${table.slice(0, -1)}_changed` },
      );
      written += rowCount;
    };
    await note('proposals');
    if ('subject' in target) await note('transactions');
  }
  return written;
}

/**
 * The open records that were noted on since a proposal of their organization was carried out: their workflows have
 * something to learn.
 */
export async function listNotedSince(
  db: Db,
  { organizationId, proposalId }: { organizationId: string; proposalId: string },
): Promise<RecordRef[]> {
  const notedSince = (table: string, columns: string) => `SELECT noted.id, ${columns} FROM proposals executed
     JOIN ${table} noted ON noted.organization_id = executed.organization_id AND noted.id <> executed.id
     WHERE executed.organization_id = :organizationId AND executed.id = :proposalId
       AND noted.closed_at IS NULL AND noted.notes <> '[]' AND noted.updated_at >= executed.applied_at`;
  const { rows } = await db.raw(
    `${notedSince('proposals', 'noted.resource_type, noted.action')}
     UNION ALL ${notedSince('transactions', 'NULL, NULL')} ORDER BY id`,
    { organizationId, proposalId },
  );
  return rows.map((row: Row) =>
    row.resource_type === null
      ? { kind: 'transaction', organizationId, id: row.id }
      : {
          kind: 'proposal',
          organizationId,
          id: row.id,
          resourceType: row.resource_type,
          action: row.action,
        },
  );
}
