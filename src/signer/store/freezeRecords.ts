import type { Db, Tx } from '../../db/database';
import type { RecordedFreeze } from '../../db/freezes';

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
