import { z } from 'zod';
import { memberSummary as memberSummarySchema } from '../contract/members';
import { idOf, itemsOf, noDuplicates } from '../contract/primitives';
import { findGroupsOf } from '../db/groups';
import { findMembers, memberSummary, readAdmins, removeMembers } from '../db/members';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { defineOperation, type KindContext } from './kind';
import { describeMember, membersDiffer, unknownMember } from './members';
import { sentence } from './words';

export const membersRemoveBody = z.strictObject({
  ids: itemsOf(idOf('mem')).check(noDuplicates((id) => id)),
});

const data = z.object({ items: z.array(memberSummarySchema) });

/** Refuses the first of them who is an admin. */
async function isAdmin({ tx, organizationId }: KindContext, ids: readonly string[]) {
  const admins = new Set((await readAdmins(tx, organizationId)).members.map(({ id }) => id));
  const index = ids.findIndex((id) => admins.has(id));
  if (index < 0) return undefined;
  return refuse(
    'conflict',
    `member ${ids[index]} is an admin: first change the admins, then remove the member`,
    `ids[${index}]`,
  );
}

/** Removes members from the organization and from every group. Their ids are not reused. */
export const membersRemove = defineOperation({
  resourceType: 'members',
  action: 'remove',
  requests: [
    {
      id: 'proposeMembersRemove',
      path: '/members/proposals/remove',
      summary: 'Propose the removal of members',
      description: 'They leave every group, and their API keys end. An admin cannot be removed.',
      body: membersRemoveBody,
      exampleBody: { ids: ['mem_01jz8k3v5fe5ht0n2m6w9r4xyz'] },
    },
  ],
  data,

  async plan(context, { ids }) {
    const members = await findMembers(context.tx, context.organizationId, ids);
    const refused = unknownMember(members, ids, (i) => `ids[${i}]`) ?? (await isAdmin(context, ids));
    if (refused) return refused;
    const items = ids.flatMap((id) => members.filter((member) => member.id === id).map(memberSummary));
    const subjects = ids.map((id) => `member:${id}`);
    return accept({
      data: { items },
      plan: {},
      summary: sentence('Remove', 'member', items.map(describeMember)),
      claims: subjects,
      names: subjects,
    });
  },

  async apply(context, { id: proposalId, data: { items } }) {
    const { tx, organizationId } = context;
    const ids = items.map(({ id }) => id);
    const members = await findMembers(tx, organizationId, ids);
    const difference = membersDiffer(items, members);
    if (difference !== undefined) return refuse('conflict', difference);
    const admin = await isAdmin(context, ids);
    if (admin) return admin;
    const groups = await findGroupsOf(tx, organizationId, ids);
    await removeMembers(tx, ids);
    return accept({
      resources: ids.map((id) => ({ type: 'member' as const, id })),
      audit: [
        ...members.map(({ id, name, type, walletAddress, walletKind }) => ({
          action: 'member.removed',
          resourceType: 'member',
          resourceId: id,
          details: { before: { name, type, walletAddress, walletKind }, proposalId },
        })),
        ...groups.map((group) => {
          const before = group.members.map(({ id }) => id);
          const after = before.filter((id) => !ids.includes(id));
          return {
            action: 'group.updated',
            resourceType: 'group',
            resourceId: group.id,
            details: { before: { memberIds: before }, after: { memberIds: after }, proposalId },
          };
        }),
      ],
      notices: [
        ...members.map((member) => ({
          subject: `member:${member.id}`,
          code: 'memberRemoved',
          message: `member ${describeMember(member)} has been removed from the organization`,
        })),
        ...groups.map(({ id, name }) => ({
          subject: `group:${id}`,
          code: 'groupChanged',
          message: `group ${quoted(name)} (${id}) has lost members who were removed from the organization`,
        })),
      ],
    });
  },
});
