import { z } from 'zod';
import { memberSummary as memberSummarySchema, membershipUpdate } from '../contract/members';
import {
  idOf,
  itemsOf,
  MAX_ITEMS,
  nameInput,
  noDuplicates,
  responseOnly,
  timestamp,
  uniqueList,
} from '../contract/primitives';
import { type MemberSummary, memberSummary } from '../domain/approval';
import {
  type Edit,
  expectRevision,
  findResource,
  type GroupState,
  membersOf,
  type OrganizationState,
} from '../domain/governance';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quotedName } from '../domain/summary';
import {
  type DescribedGroup,
  describeGroup,
  type GroupWithMembers,
  groupsData,
  groupsSummary,
  groupsWithMembers,
} from './groups';
import { defineOperation } from './kind';
import { describeMembers, membersDiffer, unknownMember } from './members';
import { counted } from './words';

const item = z
  .strictObject({
    id: idOf('grp'),
    name: nameInput.optional(),
    memberUpdates: uniqueList(membershipUpdate, ({ id }) => id, ['id']).optional(),
    ...responseOnly({ members: z.array(memberSummarySchema), createdAt: timestamp, updatedAt: timestamp }),
  })
  .meta({ id: 'GroupChange' })
  .transform(({ id, name, memberUpdates }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(memberUpdates === undefined ? {} : { memberUpdates }),
  }));

export const groupsUpdateBody = z.strictObject({
  items: itemsOf(item).check(noDuplicates(({ id }) => id, ['id'])),
});

type Item = z.output<typeof item>;

/** What becomes of a group. */
interface Change {
  readonly before: GroupState;
  readonly name: string;
  readonly added: readonly MemberSummary[];
  readonly removed: readonly MemberSummary[];
}

/** What becomes of a group that will have these members. */
function changeTo(
  state: OrganizationState,
  { id, name, members }: z.output<typeof groupsData>['items'][number],
): Change[] {
  const before = findResource(state, 'group', id);
  if (!before) return [];
  const ids = members.map((member) => member.id);
  const without = (some: readonly string[], others: readonly string[]) =>
    membersOf(
      state,
      some.filter((memberId) => !others.includes(memberId)),
    );
  return [{ before, name, added: without(ids, before.memberIds), removed: without(before.memberIds, ids) }];
}

function describeChange({ before, name, added, removed }: Change): DescribedGroup {
  const changes = [
    ...(name === before.name ? [] : [`name it ${quotedName(name)}`]),
    ...(added.length === 0 ? [] : [`add ${counted(added.length, 'member')}`]),
    ...(removed.length === 0 ? [] : [`remove ${counted(removed.length, 'member')}`]),
  ];
  return {
    line: `${describeGroup(before)}: ${changes.join(', ')}`,
    members: [
      { verb: 'Add', texts: describeMembers(added) },
      { verb: 'Remove', texts: describeMembers(removed) },
    ],
  };
}

interface PlannedChange {
  readonly after: GroupWithMembers;
  /** The members who leave. */
  readonly removed: readonly MemberSummary[];
}

/** Refuses the first member update that names no member of the organization, or that changes nothing. */
function wrongMemberUpdate(
  state: OrganizationState,
  group: GroupWithMembers,
  updates: NonNullable<Item['memberUpdates']>,
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
  { name, memberUpdates = [] }: Item,
  field: string,
): Outcome<PlannedChange> {
  const wrong = wrongMemberUpdate(state, group, memberUpdates, field);
  if (wrong) return wrong;
  const chosen = (action: string) =>
    membersOf(
      state,
      memberUpdates.filter((update) => update.action === action).map(({ id }) => id),
    ).map(memberSummary);
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

/** New names for groups; members to add and to remove. */
export const groupsUpdate = defineOperation({
  resourceType: 'groups',
  action: 'update',
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
  data: groupsData,

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
      names: [...claims, ...new Set(memberIds.map((id) => `member:${id}`))],
    });
  },

  change(state, { items }) {
    const edits: Edit[] = [];
    for (const { id, name, members, revision } of items) {
      const difference = membersDiffer(state, members);
      if (difference !== undefined) return refuse('conflict', difference);
      const group = expectRevision(state, 'group', { id, revision }, `group ${describeGroup({ id, name })}`);
      if (!group.ok) return group;
      edits.push({
        type: 'group',
        id,
        after: { id, name, memberIds: members.map((member) => member.id).sort() },
      });
    }
    return accept(edits);
  },

  summary({ state }, { items }) {
    const changes = items.flatMap((item) => changeTo(state, item));
    return groupsSummary('Update', changes.map(describeChange));
  },
});
