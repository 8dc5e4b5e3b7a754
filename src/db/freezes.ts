import type { Db, Tx } from './database';
import type { FreezeRow } from './tables';

/** A freeze of an organization (null: of all), or its end, as the signer has recorded it. */
export interface RecordedFreeze {
  readonly id: string;
  readonly type: FreezeRow['type'];
  readonly organizationId: string | null;
}

/** The freezes, and their ends, without audit entries, oldest first. */
export async function freezesWithoutAudit(db: Db): Promise<(RecordedFreeze & { readonly at: Date })[]> {
  const rows = await db('freezes')
    .whereNotExists(db('freeze_audits').whereRaw('freeze_audits.freeze_id = freezes.id').select(db.raw('1')))
    .orderBy('position');
  return rows.map(({ id, type, organization_id, created_at }) => ({
    ...{ id, type, organizationId: organization_id },
    at: created_at,
  }));
}

/** Records that the entries of a freeze are written; false where they were written before. */
export async function claimFreezeAudit(tx: Tx, { id }: RecordedFreeze): Promise<boolean> {
  const claimed = await tx('freeze_audits')
    .insert({ freeze_id: id })
    .onConflict('freeze_id')
    .ignore()
    .returning('freeze_id');
  return claimed.length > 0;
}

/** The ids of the organizations that a freeze is about: all that there were, or one. */
export async function frozenOrganizations(
  tx: Tx,
  { organizationId, at }: RecordedFreeze & { readonly at: Date },
): Promise<string[]> {
  const there = tx('organizations').where('created_at', '<=', at).orderBy('id');
  return (organizationId === null ? there : there.where({ id: organizationId })).pluck('id');
}
