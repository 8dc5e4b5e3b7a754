import { z } from 'zod';
import { adminThreshold } from '../contract/admins';
import { memberSummary as memberSummarySchema, membershipUpdate } from '../contract/members';
import { idOf, responseOnly, uniqueList } from '../contract/primitives';
import { findMembers, memberSummary, readAdmins, replaceAdmins } from '../db/members';
import type { MemberSummary } from '../domain/approval';
import type { AdminSet } from '../domain/proposal';
import { accept, refuse } from '../domain/refusal';
import { quoted } from '../domain/signing';
import { walletText } from '../domain/wallet';
import { defineOperation } from './kind';
import { membersDiffer, unknownMember } from './members';
import { listed } from './words';

export const adminsUpdateBody = z
  .strictObject({
    updates: uniqueList(membershipUpdate, ({ id }) => id, ['id']),
    threshold: adminThreshold,
    ...responseOnly({ id: idOf('adm'), members: z.array(memberSummarySchema) }),
  })
  .transform(({ updates, threshold }) => ({ updates, threshold }));

const data = z.object({ members: z.array(memberSummarySchema), threshold: adminThreshold });

/** Refuses a set of admins that cannot reach its threshold, or that has no member of type api. */
function cannotDecide(members: readonly MemberSummary[], threshold: number) {
  if (members.length === 0) return refuse('validationError', 'at least one admin must be left', 'updates');
  if (!members.some(({ type }) => type === 'api')) {
    return refuse('validationError', 'at least one admin must be of type api', 'updates');
  }
  if (threshold > members.length) {
    return refuse(
      'validationError',
      `a threshold of ${threshold} is more than the ${members.length} admins that there would be`,
      'threshold',
    );
  }
  return undefined;
}

function describeUpdates(
  updates: readonly { readonly action: string; readonly id: string }[],
  members: readonly MemberSummary[],
): string {
  return updates
    .flatMap(({ action, id }) =>
      members
        .filter((member) => member.id === id)
        .map((member) =>
          action === 'addMember'
            ? `add ${quoted(member.name)} (${member.type}, ${walletText(member)})`
            : `remove ${quoted(member.name)} (${walletText(member)})`,
        ),
    )
    .join(', ');
}

function describeThreshold(before: number, after: number): string {
  return before === after ? `threshold stays ${after}` : `threshold ${before} → ${after}`;
}

/** The ids of the admins after additions and removals. */
function adminIdsAfter(
  admins: AdminSet,
  changes: { readonly addMemberIds: readonly string[]; readonly removeMemberIds: readonly string[] },
): string[] {
  const ids = new Set([...admins.members.map(({ id }) => id), ...changes.addMemberIds]);
  for (const id of changes.removeMemberIds) ids.delete(id);
  return [...ids].sort();
}

/** The admins and their threshold. */
export const adminsUpdate = defineOperation({
  resourceType: 'admins',
  action: 'update',
  requests: [
    {
      id: 'proposeAdminsUpdate',
      path: '/admins/proposals/update',
      summary: 'Propose a change of the admins',
      description:
        'Changes who the admins are, their threshold, or both. At least one admin is of type api, always. One such ' +
        'proposal is queued at a time.',
      body: adminsUpdateBody,
      exampleBody: { updates: [{ action: 'addMember', id: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz' }], threshold: 3 },
    },
  ],
  data,

  async plan({ tx, organizationId }, { updates, threshold }) {
    const admins = await readAdmins(tx, organizationId);
    const ids = updates.map(({ id }) => id);
    const named = await findMembers(tx, organizationId, ids);
    const unknown = unknownMember(named, ids, (i) => `updates[${i}].id`);
    if (unknown) return unknown;
    const adminIds = new Set(admins.members.map(({ id }) => id));
    const idle = updates.findIndex(({ action, id }) => adminIds.has(id) === (action === 'addMember'));
    if (idle >= 0) {
      const id = ids[idle] ?? '';
      const reason = adminIds.has(id) ? 'is an admin already' : 'is not an admin';
      return refuse('validationError', `member ${id} ${reason}`, `updates[${idle}].id`);
    }
    const chosen = (action: string) => updates.filter((one) => one.action === action).map(({ id }) => id);
    const changes = { addMemberIds: chosen('addMember'), removeMemberIds: chosen('removeMember') };
    const all = [...admins.members, ...named];
    const members = adminIdsAfter(admins, changes).flatMap((id) => {
      const member = all.find((candidate) => candidate.id === id);
      return member ? [memberSummary(member)] : [];
    });
    const refused = cannotDecide(members, threshold);
    if (refused) return refused;
    if (updates.length === 0 && threshold === admins.threshold) {
      return refuse('validationError', 'nothing about the admins would change', 'updates');
    }
    const parts = [
      ...(updates.length === 0 ? [] : [describeUpdates(updates, named)]),
      describeThreshold(admins.threshold, threshold),
    ];
    return accept({
      data: { members, threshold },
      plan: changes,
      summary: `Change the admins: ${parts.join('; ')}`,
      claims: [],
      names: [...new Set([...members.map(({ id }) => id), ...ids])].map((id) => `member:${id}`),
    });
  },

  async apply({ tx, organizationId }, { id: proposalId, data: signed, plan: changes }) {
    const admins = await readAdmins(tx, organizationId);
    const signedIds = signed.members.map(({ id }) => id);
    const members = await findMembers(tx, organizationId, signedIds);
    const difference = membersDiffer(signed.members, members);
    if (difference !== undefined) return refuse('conflict', difference);
    const after = adminIdsAfter(admins, changes);
    const missing = signedIds.filter((id) => !after.includes(id));
    const unexpected = after.filter((id) => !signedIds.includes(id));
    if (missing.length + unexpected.length > 0) {
      return refuse(
        'conflict',
        `the admins have been changed since this was proposed: ${listed([...missing, ...unexpected], ', ')} would ` +
          'not be as it says',
      );
    }
    const refused = cannotDecide(members, signed.threshold);
    if (refused) return refused;
    await replaceAdmins(tx, organizationId, { memberIds: after, threshold: signed.threshold });
    return accept({
      resources: [{ type: 'admin' as const, id: admins.id, uri: `/api/v1/admins/${admins.id}` }],
      audit: [
        {
          action: 'admins.updated',
          resourceType: 'admin',
          resourceId: admins.id,
          details: {
            before: { threshold: admins.threshold, memberIds: admins.members.map(({ id }) => id) },
            after: { threshold: signed.threshold, memberIds: after },
            proposalId,
          },
        },
      ],
    });
  },
});
