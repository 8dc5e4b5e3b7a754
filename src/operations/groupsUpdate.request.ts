import { type GroupChange, groupsUpdateBody } from '../contract/groupChanges';
import { MAX_ITEMS } from '../contract/primitives';
import { type MemberSummary, toMemberSummary } from '../domain/approval';
import { membersOf, type OrganizationState } from '../domain/governance';
import { accept, type Result, refuse } from '../domain/refusal';
import { type GroupWithMembers, groupsWithMembers } from './groups.request';
import { groupsUpdate } from './groupsUpdate';
import { defineOperation } from './kind';
import { unknownMember } from './members.request';

interface PlannedChange {
  readonly after: GroupWithMembers;
  /** The members who leave. */
  readonly removed: readonly MemberSummary[];
}

/** Refuses the first member update that names no member of the organization, or that changes nothing. */
function wrongMemberUpdate(
  state: OrganizationState,
  group: GroupWithMembers,
  updates: NonNullable<GroupChange['memberUpdates']>,
  field: string,
) {
  const fieldOf = (j: number) => `${field}.memberUpdates[${j}].id`;
  const ids = updates.map(({ id }) => id);
  const unknown = unknownMember(state, ids, fieldOf);
  if (unknown) return unknown;
  const isIn = (memberId: string) => group.members.some(({ id }) => id === memberId);
  const idle = updates.findIndex(({ id, action }) => isIn(id) === (action === 'addMember'));
  if (idle < 0) return undefined;
  const memberId = ids[idle] ?? '';
  const already = isIn(memberId) ? 'is in it already' : 'is not in it';
  return refuse('validationError', `member ${memberId} of group ${group.id} ${already}`, fieldOf(idle));
}

/** What an item changes about a group. Refuses an empty change, and a group of more than 100 members. */
function planChange(
  state: OrganizationState,
  group: GroupWithMembers,
  { name, memberUpdates = [] }: GroupChange,
  field: string,
): Result<PlannedChange> {
  const wrong = wrongMemberUpdate(state, group, memberUpdates, field);
  if (wrong) return wrong;
  const chosen = (action: string) =>
    membersOf(
      state,
      memberUpdates.filter((update) => update.action === action).map(({ id }) => id),
    ).map(toMemberSummary);
  const [added, removed] = [chosen('addMember'), chosen('removeMember')];
  const newName = name === undefined || name === group.name ? undefined : name;
  if (newName === undefined && memberUpdates.length === 0) {
    return refuse('validationError', `nothing about group ${group.id} would change`, field);
  }
  const members = [...group.members, ...added]
    .filter(({ id }) => !removed.some((member) => member.id === id))
    .sort((one, two) => (one.id < two.id ? -1 : 1));
  if (members.length > MAX_ITEMS) {
    return refuse(
      'validationError',
      `group ${group.id} would have ${members.length} members, more than ${MAX_ITEMS}`,
      `${field}.memberUpdates`,
    );
  }
  return accept({ after: { ...group, name: newName ?? group.name, members }, removed });
}

/** How it is proposed. */
export const groupsUpdateRequest = defineOperation(groupsUpdate, {
  requests: [
    {
      id: 'proposeGroupsUpdate',
      path: '/groups/proposals/update',
      summary: 'Propose changes of groups',
      description: 'Members who are not named stay as they are. A group has 100 members at most.',
      body: groupsUpdateBody,
      exampleBody: {
        items: [
          {
            id: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz',
            name: 'Traders',
            memberUpdates: [{ action: 'addMember', id: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz' }],
          },
        ],
      },
    },
  ],

  async plan({ state }, { items }) {
    const found = groupsWithMembers(state, items);
    if (!found.ok) return found;
    const planned: PlannedChange[] = [];
    for (const [i, group] of found.value.entries()) {
      const item = items[i] ?? { id: group.id };
      const outcome = planChange(state, group, item, `items[${i}]`);
      if (!outcome.ok) return outcome;
      planned.push(outcome.value);
    }
    const claims = items.map(({ id }) => `group:${id}`);
    const memberIds = planned.flatMap(({ after, removed }) =>
      [...after.members, ...removed].map(({ id }) => id),
    );
    return accept({
      data: { items: planned.map(({ after }) => ({ ...after, members: [...after.members] })) },
      claims,
      mentions: [...claims, ...new Set(memberIds.map((id) => `member:${id}`))],
    });
  },
});
