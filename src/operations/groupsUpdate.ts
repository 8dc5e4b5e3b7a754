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
import { findGroups, type Group, updateGroups } from '../db/groups';
import { findMembers, type Member, memberSummary } from '../db/members';
import type { MemberSummary } from '../domain/approval';
import { accept, type Outcome, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { areNamed, describeGroup, groupsData, unknownGroup } from './groups';
import { defineOperation } from './kind';
import { describeMembers, membersDiffer, unknownMember } from './members';
import { listed, sentence } from './words';

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

/** What changes about one group. */
interface Change {
  readonly name?: string;
  readonly addMemberIds: readonly string[];
  readonly removeMemberIds: readonly string[];
}

/** Ids of the members that a group will have, ascending. */
function membershipAfter(group: Group, { addMemberIds, removeMemberIds }: Change): string[] {
  const ids = new Set([...group.members.map(({ id }) => id), ...addMemberIds]);
  for (const id of removeMemberIds) ids.delete(id);
  return [...ids].sort();
}

function describeChange(
  { name }: Change,
  added: readonly MemberSummary[],
  removed: readonly MemberSummary[],
  named: boolean,
): string {
  const changes = [
    ...(name === undefined ? [] : [`name it ${quoted(name)}`]),
    ...(added.length === 0 ? [] : [`add ${describeMembers(added, named)}`]),
    ...(removed.length === 0 ? [] : [`remove ${describeMembers(removed, named)}`]),
  ];
  return changes.join(' and ');
}

/** How a group would differ from its proposal, as text; undefined when it would not. */
function groupDiffers(
  signed: { readonly id: string; readonly name: string; readonly members: readonly MemberSummary[] },
  after: { readonly name: string; readonly memberIds: readonly string[] },
): string | undefined {
  const signedIds = signed.members.map(({ id }) => id);
  const missing = signedIds.filter((id) => !after.memberIds.includes(id));
  const unexpected = after.memberIds.filter((id) => !signedIds.includes(id));
  const differences = [
    ...(after.name === signed.name ? [] : [`be named ${quoted(after.name)}`]),
    ...(missing.length === 0 ? [] : [`lack ${listed(missing, ', ')}`]),
    ...(unexpected.length === 0 ? [] : [`also have ${listed(unexpected, ', ')}`]),
  ];
  if (differences.length === 0) return undefined;
  return `group ${describeGroup(signed)} would ${differences.join(' and ')}: it has been changed since this was proposed`;
}

interface PlannedChange {
  readonly group: Group;
  readonly change: Change;
  /** The members that the group will have. */
  readonly after: readonly MemberSummary[];
  readonly described: string;
}

/** Refuses the first member update that names no member of the organization, or that changes nothing. */
function wrongMemberUpdate(
  group: Group,
  updates: NonNullable<Item['memberUpdates']>,
  members: readonly Member[],
  field: string,
) {
  const fieldOf = (j: number) => `${field}.memberUpdates[${j}].id`;
  const ids = updates.map(({ id }) => id);
  const unknown = unknownMember(members, ids, fieldOf);
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
  group: Group,
  { name, memberUpdates = [] }: Item,
  members: readonly Member[],
  { named, field }: { readonly named: boolean; readonly field: string },
): Outcome<PlannedChange> {
  const wrong = wrongMemberUpdate(group, memberUpdates, members, field);
  if (wrong) return wrong;
  const chosen = (action: string) =>
    members.filter(({ id }) => memberUpdates.some((update) => update.action === action && update.id === id));
  const [added, removed] = [chosen('addMember'), chosen('removeMember')];
  const change: Change = {
    ...(name === undefined || name === group.name ? {} : { name }),
    addMemberIds: added.map(({ id }) => id),
    removeMemberIds: removed.map(({ id }) => id),
  };
  if (change.name === undefined && memberUpdates.length === 0) {
    return refuse('validationError', `nothing about group ${group.id} would change`, field);
  }
  const all = [...group.members, ...added];
  const after = membershipAfter(group, change).flatMap((memberId) =>
    all.filter(({ id }) => id === memberId).map(memberSummary),
  );
  if (after.length > MAX_ITEMS) {
    return refuse(
      'validationError',
      `group ${group.id} would have ${after.length} members, more than ${MAX_ITEMS}`,
      `${field}.memberUpdates`,
    );
  }
  const described = `${describeGroup(group)}: ${describeChange(change, added, removed, named)}`;
  return accept({ group, change, after, described });
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

  async plan({ tx, organizationId }, { items }) {
    const groups = await findGroups(
      tx,
      organizationId,
      items.map(({ id }) => id),
    );
    const unknown = unknownGroup(groups, items);
    if (unknown) return unknown;
    const members = await findMembers(
      tx,
      organizationId,
      items.flatMap(({ memberUpdates = [] }) => memberUpdates.map(({ id }) => id)),
    );
    const named = areNamed(items.map(({ memberUpdates = [] }) => memberUpdates));
    const planned: PlannedChange[] = [];
    for (const [i, item] of items.entries()) {
      const group = groups.find(({ id }) => id === item.id);
      if (!group) throw new Error(`group ${item.id} was found a moment ago`);
      const outcome = planChange(group, item, members, { named, field: `items[${i}]` });
      if (!outcome.ok) return outcome;
      planned.push(outcome.value);
    }
    const claims = items.map(({ id }) => `group:${id}`);
    const memberIds = planned.flatMap(({ change, after }) => [
      ...after.map(({ id }) => id),
      ...change.removeMemberIds,
    ]);
    return accept({
      data: {
        items: planned.map(({ group: { id, name }, change, after }) => ({
          id,
          name: change.name ?? name,
          members: after,
        })),
      },
      plan: { changes: planned.map(({ change }) => change) },
      summary: sentence(
        'Update',
        'group',
        planned.map(({ described }) => described),
        '; ',
      ),
      claims,
      names: [...claims, ...new Set(memberIds.map((id) => `member:${id}`))],
    });
  },

  async apply({ tx, organizationId }, { id: proposalId, data: { items }, plan: { changes } }) {
    const groups = await findGroups(
      tx,
      organizationId,
      items.map(({ id }) => id),
    );
    const members = await findMembers(
      tx,
      organizationId,
      items.flatMap((item) => item.members.map(({ id }) => id)),
    );
    const updates: { before: Group; change: Change; after: { name: string; memberIds: string[] } }[] = [];
    for (const [i, signed] of items.entries()) {
      const before = groups.find(({ id }) => id === signed.id);
      const change = changes[i];
      if (!change) throw new Error(`proposal ${proposalId} has no change for item ${i}`);
      if (!before) return refuse('conflict', `group ${describeGroup(signed)} no longer exists`);
      const after = { name: change.name ?? before.name, memberIds: membershipAfter(before, change) };
      const difference = membersDiffer(signed.members, members) ?? groupDiffers(signed, after);
      if (difference !== undefined) return refuse('conflict', difference);
      updates.push({ before, change, after });
    }
    const pairs = (idsOf: (change: Change) => readonly string[]) =>
      updates.flatMap(({ before: { id }, change }) =>
        idsOf(change).map((memberId) => [id, memberId] as const),
      );
    await updateGroups(
      tx,
      updates.map(({ before: { id }, after: { name } }) => ({ id, name })),
      { add: pairs((change) => change.addMemberIds), remove: pairs((change) => change.removeMemberIds) },
    );
    return accept({
      resources: items.map(({ id }) => ({ type: 'group' as const, id, uri: `/api/v1/groups/${id}` })),
      audit: updates.map(({ before, after }) => ({
        action: 'group.updated',
        resourceType: 'group',
        resourceId: before.id,
        details: {
          before: { name: before.name, memberIds: before.members.map(({ id }) => id) },
          after,
          proposalId,
        },
      })),
      notices: updates.map(({ before }) => ({
        subject: `group:${before.id}`,
        code: 'groupChanged',
        message: `group ${describeGroup(before)} has been changed`,
      })),
    });
  },
});
