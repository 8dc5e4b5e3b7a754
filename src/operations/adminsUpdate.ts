import { z } from 'zod';
import { expectRevision, membersOf, type OrganizationState } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { adminThreshold, memberSummary as memberSummarySchema, revision } from '../domain/schemas';
import { quotedName } from '../domain/summary';
import { walletText } from '../domain/wallet';
import { describeMembers, membersDiffer } from './members';
import { defineRule } from './rule';
import { dataSummary } from './words';

const data = z.object({
  revision,
  members: z.array(memberSummarySchema),
  threshold: adminThreshold,
});

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
export const adminsUpdate = defineRule({
  resourceType: 'admins',
  action: 'update',
  data,

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
