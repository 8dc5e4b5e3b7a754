import { memberSummary } from '../domain/approval';
import type { PolicyContext } from '../domain/policyEngine';
import type { Db, Tx } from './database';
import { findGroups } from './groups';
import { findMembers } from './members';

/** The current members and groups with these ids, as policies are evaluated with them. */
export async function readPeople(
  db: Db | Tx,
  organizationId: string,
  { memberIds, groupIds }: { readonly memberIds: readonly string[]; readonly groupIds: readonly string[] },
): Promise<Pick<PolicyContext, 'members' | 'groups'>> {
  const members = await findMembers(db, organizationId, memberIds);
  const groups = groupIds.length === 0 ? [] : await findGroups(db, organizationId, groupIds);
  return {
    members: new Map(members.map((member) => [member.id, memberSummary(member)])),
    groups: new Map(groups.map((group) => [group.id, group.members])),
  };
}
