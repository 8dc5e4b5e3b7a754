import type { Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { readOrganizationState } from '../../src/db/seals';
import {
  type AdminsState,
  findResource,
  type GroupState,
  type MemberState,
  type OrganizationState,
  type ResourceKind,
  type Resources,
} from '../../src/domain/governance';
import { proposeChange, type Shown } from './api';
import type { TestOrganization, TestService } from './service';

/** What the admins of an organization have decided so far. */
export async function decided(db: Db, { id }: { readonly id: string }): Promise<OrganizationState> {
  const state = await readOrganizationState(db, id);
  if (!state) throw new Error(`organization ${id} is not admitted`);
  return state;
}

async function resourceOf<K extends ResourceKind>(db: Db, org: TestOrganization, type: K, id: string) {
  const found = findResource(await decided(db, org), type, id);
  if (!found) throw new Error(`there is no ${type} ${id}`);
  const { revision: _, ...content } = found;
  return content as Omit<Resources[K], 'revision'>;
}

/** Changes a member, as if the admins had decided it. */
export async function changeMember(
  db: Db,
  org: TestOrganization,
  id: string,
  change: Partial<MemberState>,
): Promise<void> {
  const member = await resourceOf(db, org, 'member', id);
  await org.decide([{ type: 'member', id, after: { ...member, ...change } }]);
}

/** Changes the admins or their threshold, as if they had decided it. */
export async function changeAdmins(
  db: Db,
  org: TestOrganization,
  change: Partial<AdminsState> | ((admins: AdminsState) => Partial<AdminsState>),
): Promise<void> {
  const { admins } = await decided(db, org);
  const { revision: _, ...content } = admins;
  const changed = typeof change === 'function' ? change(admins) : change;
  await org.decide([{ type: 'admin', id: org.adminsId, after: { ...content, ...changed } }]);
}

/** Removes an admin from the organization, as if the others had decided it. */
export async function dismissAdmin(db: Db, org: TestOrganization, memberId: string): Promise<void> {
  const { id, threshold, memberIds } = (await decided(db, org)).admins;
  await org.decide([
    { type: 'admin', id, after: { id, threshold, memberIds: memberIds.filter((one) => one !== memberId) } },
    { type: 'member', id: memberId, after: null },
  ]);
}

/** Changes a group, as if the admins had decided it. */
export async function changeGroup(
  db: Db,
  org: TestOrganization,
  id: string,
  change: Partial<GroupState>,
): Promise<void> {
  const group = await resourceOf(db, org, 'group', id);
  await org.decide([{ type: 'group', id, after: { ...group, ...change } }]);
}

/** A proposal that can be carried out or not, as often as a test wants it. */
interface Hindered {
  readonly proposal: Shown;
  readonly groupId: string;
  readonly policyId: string;
  /** From now on what was signed cannot be carried out exactly. */
  hinder(): Promise<void>;
  /** From now on it can. */
  free(): Promise<void>;
}

/** Proposes a policy whose approvers are a group that can be emptied and filled again. */
export async function proposeHindered(service: TestService, org: TestOrganization): Promise<Hindered> {
  const groupId = newId('grp');
  const memberIds = [org.dave.id];
  await org.decide([
    { type: 'group', id: groupId, after: { id: groupId, name: `Approvers ${groupId}`, memberIds } },
  ]);
  const proposal = await proposeChange(service.http, org, '/policies/proposals/add', {
    policies: [
      {
        name: `Approved by group ${groupId}`,
        type: 'MANUAL_APPROVAL',
        transactionType: 'ANY',
        networkId: 31337,
        accountIds: null,
        initiatorSetting: null,
        approverSetting: { type: 'group', groupId, threshold: 1 },
      },
    ],
  });
  return {
    proposal,
    groupId,
    policyId: proposal.data.policies[0].id,
    hinder: () => changeGroup(service.db, org, groupId, { memberIds: [] }),
    free: () => changeGroup(service.db, org, groupId, { memberIds }),
  };
}
