import { appendAudit, OPERATOR } from './audit';
import type { Db, Tx } from './database';
import type { FreezeRow } from './tables';

/** A freeze of an organization (null: of all), or its end, as the signer has recorded it. */
export interface RecordedFreeze {
  readonly id: string;
  readonly type: FreezeRow['type'];
  readonly organizationId: string | null;
}

/** Records a freeze, or its end. Idempotent by its id. */
export async function recordFreeze(db: Db | Tx, { id, type, organizationId }: RecordedFreeze): Promise<void> {
  await db('freezes').insert({ id, type, organization_id: organizationId }).onConflict('id').ignore();
}

/** Freezes that are in force, oldest first. */
export async function activeFreezes(
  db: Db | Tx,
): Promise<{ readonly id: string; readonly organizationId: string | null; readonly since: Date }[]> {
  const rows = await db('freezes').orderBy('position');
  const active = new Map<string | null, { readonly id: string; readonly since: Date }>();
  for (const { id, type, organization_id, created_at } of rows) {
    if (type === 'unfreeze') active.delete(organization_id);
    else if (!active.has(organization_id)) active.set(organization_id, { id, since: created_at });
  }
  return [...active].map(([organizationId, freeze]) => ({ organizationId, ...freeze }));
}

/**
 * Writes the audit entries of freezes that have none yet: one for each organization that is concerned. The signer cannot
 * write them. Returns how many freezes.
 */
export async function auditFreezes(db: Db): Promise<number> {
  const missing = await db('freezes')
    .whereNotExists(db('freeze_audits').whereRaw('freeze_audits.freeze_id = freezes.id').select(db.raw('1')))
    .orderBy('position');
  for (const { id, type, organization_id, created_at } of missing) {
    await db.transaction(async (tx) => {
      const first = await tx('freeze_audits')
        .insert({ freeze_id: id })
        .onConflict('freeze_id')
        .ignore()
        .returning('freeze_id');
      if (first.length === 0) return;
      const query = tx('organizations').where('created_at', '<=', created_at).orderBy('id');
      const concerned: string[] = await (organization_id === null
        ? query
        : query.where({ id: organization_id })
      ).pluck('id');
      for (const organizationId of concerned) {
        await appendAudit(tx, organizationId, [
          {
            action: type === 'freeze' ? 'organization.frozen' : 'organization.unfrozen',
            actor: OPERATOR,
            resourceType: 'organization',
            resourceId: organizationId,
            details: { at: created_at.toISOString(), everyOrganization: organization_id === null },
          },
        ]);
      }
    });
  }
  return missing.length;
}
