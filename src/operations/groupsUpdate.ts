import { z } from 'zod';
import { idInput, itemsOf, MAX_ITEMS, nameInput, noDuplicates, responseOnly } from '../contract/primitives';
import { findGroups, type Group, updateGroups } from '../db/groups';
import { findMembers, memberSummary } from '../db/members';
import type { MemberSummary } from '../domain/proposal';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { areNamed, describeGroup, groupsData, unknownGroup } from './groups';
import { defineOperation } from './kind';
import { describeMembers, membersDiffer, unknownMember } from './members';
import { listed, sentence } from './words';

const memberUpdate = z.strictObject({ action: z.enum(['addMember', 'removeMember']), id: idInput('mem') });

const item = z
  .strictObject({
    id: idInput('grp'),
    name: nameInput.optional(),
    memberUpdates: z
      .array(memberUpdate)
      .max(MAX_ITEMS)
      .check(noDuplicates(({ id }) => id, ['id']))
      .optional(),
    ...responseOnly('members', 'createdAt', 'updatedAt'),
  })
  .transform(({ id, name, memberUpdates }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(memberUpdates === undefined ? {} : { memberUpdates }),
  }));

export const groupsUpdateBody = z.strictObject({
  items: itemsOf(item).check(noDuplicates(({ id }) => id, ['id'])),
});

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

/** How a group would come out other than its proposal says, in words; undefined when it would not. */
function groupDiffers(
  said: { readonly id: string; readonly name: string; readonly members: readonly MemberSummary[] },
  after: { readonly name: string; readonly memberIds: readonly string[] },
): string | undefined {
  const saidIds = said.members.map(({ id }) => id);
  const missing = saidIds.filter((id) => !after.memberIds.includes(id));
  const unexpected = after.memberIds.filter((id) => !saidIds.includes(id));
  const differences = [
    ...(after.name === said.name ? [] : [`be named ${quoted(after.name)}`]),
    ...(missing.length === 0 ? [] : [`lack ${listed(missing, ', ')}`]),
    ...(unexpected.length === 0 ? [] : [`also have ${listed(unexpected, ', ')}`]),
  ];
  if (differences.length === 0) return undefined;
  return `group ${describeGroup(said)} would ${differences.join(' and ')}: it has been changed since this was proposed`;
}

/** New names for groups, members added and members taken out. */
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
    const planned: { group: Group; change: Change; after: MemberSummary[]; described: string }[] = [];
    for (const [i, { id, name, memberUpdates = [] }] of items.entries()) {
      const group = groups.find((candidate) => candidate.id === id);
      if (!group) throw new Error(`group ${id} was found a moment ago`);
      const fieldOf = (j: number) => `items[${i}].memberUpdates[${j}].id`;
      const stranger = unknownMember(
        members,
        memberUpdates.map((update) => update.id),
        fieldOf,
      );
      if (stranger) return stranger;
      const isIn = (memberId: string) => group.members.some((member) => member.id === memberId);
      const idle = memberUpdates.findIndex((update) => isIn(update.id) === (update.action === 'addMember'));
      if (idle >= 0) {
        const memberId = memberUpdates[idle]?.id ?? '';
        const already = isIn(memberId) ? 'is in it already' : 'is not in it';
        return refuse('validationError', `member ${memberId} of group ${id} ${already}`, fieldOf(idle));
      }
      const chosen = (action: string) =>
        members.filter((member) =>
          memberUpdates.some((update) => update.action === action && update.id === member.id),
        );
      const [added, removed] = [chosen('addMember'), chosen('removeMember')];
      const change: Change = {
        ...(name === undefined || name === group.name ? {} : { name }),
        addMemberIds: added.map((member) => member.id),
        removeMemberIds: removed.map((member) => member.id),
      };
      if (change.name === undefined && memberUpdates.length === 0) {
        return refuse('validationError', `nothing about group ${id} would change`, `items[${i}]`);
      }
      const all = [...group.members, ...added];
      const after = membershipAfter(group, change).flatMap((memberId) =>
        all.filter((member) => member.id === memberId).map(memberSummary),
      );
      if (after.length > MAX_ITEMS) {
        return refuse(
          'validationError',
          `group ${id} would have ${after.length} members, more than ${MAX_ITEMS}`,
          `items[${i}].memberUpdates`,
        );
      }
      planned.push({
        group,
        change,
        after,
        described: `${describeGroup(group)}: ${describeChange(change, added, removed, named)}`,
      });
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
    for (const [i, said] of items.entries()) {
      const before = groups.find(({ id }) => id === said.id);
      const change = changes[i];
      if (!change) throw new Error(`proposal ${proposalId} has no change for item ${i}`);
      if (!before) return refuse('conflict', `group ${describeGroup(said)} is no longer there`);
      const after = { name: change.name ?? before.name, memberIds: membershipAfter(before, change) };
      const difference = membersDiffer(said.members, members) ?? groupDiffers(said, after);
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
