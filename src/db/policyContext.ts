import { memberSummary } from '../domain/approval';
import { type Policy, policyPeople } from '../domain/policy';
import type { PolicyContext } from '../domain/policyEngine';
import type { Db, Tx } from './database';
import { findGroups } from './groups';
import { findMembers } from './members';

/** The current members and groups that policies depend on when this member initiates a transaction. */
export async function readPeople(
  db: Db | Tx,
  organizationId: string,
  policies: readonly Policy[],
  initiatorId: string,
): Promise<Pick<PolicyContext, 'members' | 'groups'>> {
  const { memberIds, groupIds } = policyPeople(policies);
  const members = await findMembers(db, organizationId, [initiatorId, ...memberIds]);
  const groups = groupIds.length === 0 ? [] : await findGroups(db, organizationId, groupIds);
  return {
    members: new Map(members.map((member) => [member.id, memberSummary(member)])),
    groups: new Map(groups.map((group) => [group.id, group.members])),
  };
}
