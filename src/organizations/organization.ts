import { type AuditInput, appendAudit, beginAudit } from '../db/audit';
import type { Db, Tx } from '../db/database';
import { insertGenesis } from '../db/genesis';
import { newId } from '../db/ids';
import { readInstallationId } from '../db/installation';
import { insertAdmins, insertMembers } from '../db/members';
import { insertOrganization } from '../db/organizations';
import { setPositions } from '../db/positions';
import { OPERATOR } from '../domain/actor';
import { toMemberSummary } from '../domain/approval';
import type { JsonValue } from '../domain/canonicalJson';
import type { OrganizationState } from '../domain/governance';
import { foldName } from '../domain/names';
import type { WalletKind } from '../domain/wallet';

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
  /** Whether the admins' Safe becomes a module of each account. */
  readonly onChain?: boolean;
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
 * Throws a RangeError whose message begins with the field when the admins could not decide: 1 <= threshold <= admins, one
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
      summary: toMemberSummary({ walletKind: 'key' as const, ...member, id: newId('mem') }),
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
        ...(input.onChain ? { onChain: true as const } : {}),
        ...FIRST,
      },
    };
    await storeOrganization(tx, state);
    return { organizationId, memberIds: Object.keys(state.members), adminsId };
  });
}

/** Stores an organization with the state that it begins with, audited. */
export async function storeOrganization(tx: Tx, state: OrganizationState): Promise<void> {
  const { id: organizationId, name, admins } = state;
  const members = Object.values(state.members);
  await insertOrganization(tx, state);
  await beginAudit(tx, organizationId);
  const entry = (
    action: AuditInput['action'],
    resourceType: string,
    resourceId: string,
    details: AuditInput['details'],
  ): AuditInput => ({ action, actor: OPERATOR, resourceType, resourceId, details });
  const positions = await appendAudit(tx, organizationId, [
    ...members.map(({ id, revision: _, ...after }) => entry('member.created', 'member', id, { after })),
    entry('organization.created', 'organization', organizationId, {
      after: {
        name,
        admins: {
          ...{ id: admins.id, threshold: admins.threshold, memberIds: admins.memberIds as JsonValue },
          ...(admins.onChain ? { onChain: true } : {}),
        },
      },
    }),
  ]);
  await insertMembers(tx, organizationId, members);
  const memberIds = members.map(({ id }) => id);
  await setPositions(tx, 'members', memberIds, positions.slice(0, members.length));
  await insertAdmins(tx, organizationId, admins);
  await insertGenesis(tx, state);
}
