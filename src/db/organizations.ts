import type { OrganizationState } from '../domain/governance';
import type { Db, Tx } from './database';
import type { OrganizationRow } from './tables';

/** A tenant. */
interface Organization {
  readonly id: string;
  readonly name: string;
  /** EIP-712 domain salt of its operations (bytes32 as 0x hex). */
  readonly domainSalt: string;
  readonly createdAt: Date;
}

function organization(row: OrganizationRow): Organization {
  return { id: row.id, name: row.name, domainSalt: row.domain_salt, createdAt: row.created_at };
}

/** One organization; throws when it does not exist. */
export async function readOrganization(db: Db | Tx, id: string): Promise<Organization> {
  const row = await db('organizations').where({ id }).first();
  if (!row) throw new Error(`organization ${id} not found`);
  return organization(row);
}

/** Every organization of the installation, oldest first. */
export async function listOrganizations(db: Db | Tx): Promise<Organization[]> {
  return (await db('organizations').orderBy('id')).map(organization);
}

/** Stores an organization, which has no members and no admins yet. */
export async function insertOrganization(
  tx: Tx,
  { id, name, domainSalt, signingKey }: Pick<OrganizationState, 'id' | 'name' | 'domainSalt' | 'signingKey'>,
): Promise<void> {
  await tx('organizations').insert({ id, name, domain_salt: domainSalt, signing_key: signingKey });
}
