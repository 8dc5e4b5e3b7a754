import type { Db } from './database';
import type { AuditLogRow } from './tables';

/** All details of an entry of the audit log, also those that no event shows; none where there is no such entry. */
export async function findAuditDetails(
  db: Db,
  { organizationId, position }: { readonly organizationId: string; readonly position: bigint },
): Promise<AuditLogRow['details']> {
  const row = await db('audit_log')
    .where({ organization_id: organizationId })
    .where('position', String(position))
    .first('details');
  return row?.details ?? {};
}
