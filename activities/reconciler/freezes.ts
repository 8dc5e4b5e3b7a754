import { appendAudit } from '../../src/db/audit';
import type { Db } from '../../src/db/database';
import { claimFreezeAudit, freezesWithoutAudit, frozenOrganizations } from '../../src/db/freezes';
import { OPERATOR } from '../../src/domain/actor';

/**
 * Writes the audit entries of freezes that have none yet: one for each organization that is concerned. The signer cannot
 * write them.
 */
export async function auditFreezes(db: Db): Promise<void> {
  for (const freeze of await freezesWithoutAudit(db)) {
    await db.transaction(async (tx) => {
      if (!(await claimFreezeAudit(tx, freeze))) return;
      for (const organizationId of await frozenOrganizations(tx, freeze)) {
        await appendAudit(tx, organizationId, [
          {
            action: freeze.type === 'freeze' ? 'organization.frozen' : 'organization.unfrozen',
            actor: OPERATOR,
            resourceType: 'organization',
            resourceId: organizationId,
            details: { at: freeze.at.toISOString(), everyOrganization: freeze.organizationId === null },
          },
        ]);
      }
    });
  }
}
