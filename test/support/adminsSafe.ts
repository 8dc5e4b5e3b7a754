import type { Db } from '../../src/db/database';
import { findSealedState } from '../../src/db/seals';
import type { OrganizationState } from '../../src/domain/governance';
import type { TestOrganization } from './service';

/** What the signer has sealed of an organization. */
export async function sealedStateOf(db: Db, { id }: TestOrganization): Promise<OrganizationState> {
  return JSON.parse((await findSealedState(db, id))?.state ?? '{}');
}

/** The admins decide whether their Safe is a module of each account. */
export async function decideAdminsSafe(db: Db, org: TestOrganization, enabled: boolean): Promise<void> {
  const { revision: _, onChain: __, ...admins } = (await sealedStateOf(db, org)).admins;
  const after = { ...admins, ...(enabled && { onChain: true as const }) };
  await org.decide([{ type: 'admin', id: admins.id, after }]);
}
