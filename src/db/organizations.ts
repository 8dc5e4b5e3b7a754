import { memberSummary } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { OrganizationState } from '../domain/governance';
import { foldName } from '../domain/names';
import type { WalletKind } from '../domain/wallet';
import { type AuditInput, appendAudit, GENESIS_HASH, OPERATOR } from './audit';
import type { Db, Tx } from './database';
import { insertGenesis } from './genesis';
import { newId } from './ids';
import { readInstallationId } from './installation';
import { insertMembers } from './members';
import { setPositions } from './positions';
import type { OrganizationRow } from './tables';

/** A tenant. */
interface Organization {
  readonly id: string;
  readonly name: string;
  /** EIP-712 domain salt of its operations (bytes32 as 0x hex). */
  readonly domainSalt: string;
  readonly createdAt: Date;
}

/** The input of `org create`. Addresses are checksummed. */
export interface NewOrganization {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly {
    readonly name: string;
    readonly type: 'user' | 'api';
    readonly walletAddress: string;
    /** `key` by default. */
    readonly walletKind?: WalletKind;
    readonly admin: boolean;
  }[];
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

/** What the state of a new organization needs that is computed elsewhere. */
export interface NewOrganizationKeys {
  /** The id, where the signer has made it; else a new one. */
  readonly organizationId?: string;
  /** The salt from installation id and organization id (see `operationDomainSalt`). */
  readonly domainSalt: (installationId: string, organizationId: string) => string;
  /** The addresses of the keys that the signer has for an organization. */
  readonly keysOf: (organizationId: string) => { readonly signingKey: string; readonly sealKey: string };
}

const FIRST = { revision: 0 } as const;

/**
 * Creates an organization with its members and admins, audited, in one transaction. Nothing can be proposed in it until
 * its genesis is signed and admitted.
 *
 * Throws a
 * RangeError whose message begins with the field when the admins could not decide: 1 <= threshold <= admins, one
 * admin of type api, no address and no name twice.
 */
export async function createOrganization(
  db: Db,
  input: NewOrganization,
  keys: NewOrganizationKeys,
): Promise<{ organizationId: string; memberIds: string[]; adminsId: string }> {
  const admins = input.members.filter((member) => member.admin);
  if (!admins.some((member) => member.type === 'api')) {
    throw new RangeError('members: at least one admin must be of type api');
  }
  if (input.threshold < 1 || input.threshold > admins.length) {
    throw new RangeError(`threshold: must be between 1 and the number of admins (${admins.length})`);
  }
  const addresses = input.members.map((member) => member.walletAddress.toLowerCase());
  const twice = addresses.findIndex((address, index) => addresses.indexOf(address) !== index);
  if (twice >= 0) throw new RangeError(`members[${twice}].walletAddress: is given twice`);
  const names = input.members.map(({ name }) => foldName(name));
  const shared = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (shared >= 0) throw new RangeError(`members[${shared}].name: is the name of another member`);
  return db.transaction(async (tx) => {
    const organizationId = keys.organizationId ?? newId('org');
    const members = input.members.map(({ admin, ...member }) => ({
      admin,
      summary: memberSummary({ walletKind: 'key' as const, ...member, id: newId('mem') }),
    }));
    const adminsId = newId('adm');
    const state: OrganizationState = {
      id: organizationId,
      name: input.name,
      domainSalt: keys.domainSalt(await readInstallationId(tx), organizationId),
      ...keys.keysOf(organizationId),
      sequence: 0,
      members: Object.fromEntries(members.map(({ summary }) => [summary.id, { ...summary, ...FIRST }])),
      groups: {},
      policies: {},
      accounts: {},
      admins: {
        id: adminsId,
        memberIds: members.flatMap(({ admin, summary }) => (admin ? summary.id : [])).sort(),
        threshold: input.threshold,
        ...FIRST,
      },
    };
    await insertOrganization(tx, state);
    return { organizationId, memberIds: Object.keys(state.members), adminsId };
  });
}

/** Stores an organization with the state that it begins with, audited. */
export async function insertOrganization(tx: Tx, state: OrganizationState): Promise<void> {
  const { id: organizationId, name, domainSalt, admins } = state;
  const members = Object.values(state.members);
  await tx('organizations').insert({ id: organizationId, name, domain_salt: domainSalt });
  await tx('audit_heads').insert({ organization_id: organizationId, position: 0, hash: GENESIS_HASH });
  const entry = (
    action: string,
    resourceType: string,
    resourceId: string,
    details: AuditInput['details'],
  ): AuditInput => ({ action, actor: OPERATOR, resourceType, resourceId, details });
  const positions = await appendAudit(tx, organizationId, [
    ...members.map(({ id, revision: _, ...after }) => entry('member.created', 'member', id, { after })),
    entry('organization.created', 'organization', organizationId, {
      after: {
        name,
        admins: { id: admins.id, threshold: admins.threshold, memberIds: admins.memberIds as JsonValue },
      },
    }),
  ]);
  await insertMembers(tx, organizationId, members);
  const memberIds = members.map(({ id }) => id);
  await setPositions(tx, 'members', memberIds, positions.slice(0, members.length));
  await tx('admin_sets').insert({
    id: admins.id,
    organization_id: organizationId,
    threshold: admins.threshold,
  });
  await tx('admin_set_members').insert(
    admins.memberIds.map((memberId) => ({ organization_id: organizationId, member_id: memberId })),
  );
  await insertGenesis(tx, state);
}
