import type { Db } from './database';
import { queryNumbered, requireRow } from './rows';
import { VALID } from './sessionValidity';

/** A change in an organization, without what changed. */
export interface ReportedChange {
  readonly organizationId: string;
  /** Of its audit entry, in the order of commit. */
  readonly position: bigint;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
}

/** The position of the last change in an organization. */
export async function readLastPosition(db: Db, organizationId: string): Promise<bigint> {
  const row = await db('audit_heads').where({ organization_id: organizationId }).first('position');
  return requireRow(row).position;
}

/** Changes of one organization that are read at once; who has missed more reads everything again. */
export const MAX_CHANGES = 500;

/** What `READ_CHANGES` reads. */
interface ChangesColumns {
  readonly changes: readonly (Omit<ReportedChange, 'position'> & { readonly position: string })[];
  readonly valid: readonly string[];
}

const READ_CHANGES = `SELECT
    (SELECT coalesce(json_agg(json_build_object('organizationId', c.organization_id, 'position', c.position::text,
        'action', c.action, 'resourceType', c.resource_type, 'resourceId', c.resource_id)
        ORDER BY c.organization_id, c.position), '[]')
      FROM unnest($1::text[], $2::bigint[]) AS heard (organization_id, position)
      CROSS JOIN LATERAL (
        SELECT a.organization_id, a.position, a.action, a.resource_type, a.resource_id FROM audit_log a
        WHERE a.organization_id = heard.organization_id AND a.position > heard.position
        ORDER BY a.position LIMIT ${MAX_CHANGES}) AS c) AS changes,
    ARRAY(SELECT s.id FROM sessions s JOIN members m ON m.id = s.member_id
      WHERE s.id = ANY($3) AND ${VALID}) AS valid`;

/**
 * The changes in some organizations after a position of each, at most MAX_CHANGES of each, and which of some sessions are valid.
 * Nothing of it counts as use.
 */
export async function readChanges(
  db: Db,
  heard: ReadonlyMap<string, bigint>,
  sessionIds: readonly string[],
): Promise<{ changes: ReportedChange[]; valid: ReadonlySet<string> }> {
  const positions = [...heard.values()].map(String);
  const values = [[...heard.keys()], positions, [...sessionIds]];
  const row = requireRow((await queryNumbered<ChangesColumns>(db, READ_CHANGES, values))[0]);
  return {
    changes: row.changes.map((change) => ({ ...change, position: BigInt(change.position) })),
    valid: new Set(row.valid),
  };
}
