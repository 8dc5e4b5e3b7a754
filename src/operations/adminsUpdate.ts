import { z } from 'zod';
import { adminThreshold } from '../contract/admins';
import { memberSummary as memberSummarySchema, membershipUpdate } from '../contract/members';
import { idOf, responseOnly, revision, uniqueList } from '../contract/primitives';
import { type MemberSummary, memberSummary } from '../domain/approval';
import { expectRevision, membersOf, type OrganizationState } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { quotedName } from '../domain/summary';
import { walletText } from '../domain/wallet';
import { defineOperation } from './kind';
import { describeMembers, membersDiffer, unknownMember } from './members';
import { dataSummary } from './words';

export const adminsUpdateBody = z
  .strictObject({
    updates: uniqueList(membershipUpdate, ({ id }) => id, ['id']),
    threshold: adminThreshold,
    ...responseOnly({ id: idOf('adm'), members: z.array(memberSummarySchema) }),
  })
  .transform(({ updates, threshold }) => ({ updates, threshold }));

const data = z.object({
  revision,
  members: z.array(memberSummarySchema),
  threshold: adminThreshold,
});

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

/** Who becomes an admin, and who stops being one, a line for each. */
function describeUpdates(state: OrganizationState, memberIds: readonly string[]) {
  const now = state.admins.memberIds;
  const without = (ids: readonly string[], others: readonly string[]) =>
    membersOf(
      state,
      ids.filter((id) => !others.includes(id)),
    );
  return {
    added: without(memberIds, now).map(
      (member) => `Add ${quotedName(member.name)} (${member.type}, ${walletText(member)})`,
    ),
    removed: describeMembers(without(now, memberIds)).map((member) => `Remove ${member}`),
  };
}

function describeThreshold(before: number, after: number): string {
  return before === after ? `threshold stays ${after}` : `threshold ${before} → ${after}`;
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

  async plan({ state }, { updates, threshold }) {
    const { admins } = state;
    const ids = updates.map(({ id }) => id);
    const unknown = unknownMember(state, ids, (i) => `updates[${i}].id`);
    if (unknown) return unknown;
    const adminIds = new Set(admins.memberIds);
    const idle = updates.findIndex(({ action, id }) => adminIds.has(id) === (action === 'addMember'));
    if (idle >= 0) {
      const id = ids[idle] ?? '';
      const reason = adminIds.has(id) ? 'is an admin already' : 'is not an admin';
      return refuse('validationError', `member ${id} ${reason}`, `updates[${idle}].id`);
    }
    for (const { action, id } of updates) {
      if (action === 'addMember') adminIds.add(id);
      else adminIds.delete(id);
    }
    const members = membersOf(state, [...adminIds].sort()).map(memberSummary);
    const refused = cannotDecide(members, threshold);
    if (refused) return refused;
    if (updates.length === 0 && threshold === admins.threshold) {
      return refuse('validationError', 'nothing about the admins would change', 'updates');
    }
    return accept({
      data: { revision: admins.revision, members, threshold },
      claims: [],
      names: [...new Set([...members.map(({ id }) => id), ...ids])].map((id) => `member:${id}`),
    });
  },

  change(state, { revision: signed, members, threshold }) {
    const { id } = state.admins;
    const admins = expectRevision(state, 'admin', { id, revision: signed }, 'the set of admins');
    if (!admins.ok) return admins;
    const difference = membersDiffer(state, members);
    if (difference !== undefined) return refuse('conflict', difference);
    const memberIds = members.map((member) => member.id).sort();
    return accept([{ type: 'admin', id, after: { id, memberIds, threshold } }]);
  },

  summary({ state }, { members, threshold }) {
    const { added, removed } = describeUpdates(
      state,
      members.map(({ id }) => id),
    );
    const parts = [
      describeThreshold(state.admins.threshold, threshold),
      ...(added.length === 0 ? [] : [`add ${added.length}`]),
      ...(removed.length === 0 ? [] : [`remove ${removed.length}`]),
    ];
    return dataSummary(`Change the admins: ${parts.join(', ')}`, [...added, ...removed]);
  },
});
