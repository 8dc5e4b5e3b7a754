import { z } from 'zod';
import { adminsSafeText, deriveAdminsSafe } from '../chain/adminsSafe';
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
  // Absent: the admins' Safe is not kept.
  onChain: z.literal(true).optional(),
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

/** What becomes of the admins' Safe, where that changes, or where its owners do. */
function describeSafe(state: OrganizationState, { threshold, onChain }: z.output<typeof data>): string[] {
  if (onChain) return [adminsSafeText(state, threshold)];
  if (!state.admins.onChain) return [];
  const { address } = deriveAdminsSafe(state).safe;
  return [
    `Admins' Safe ${address}: no longer kept equal to the admins; it stays a module of the accounts that have it`,
  ];
}

/** The admins and their threshold. */
export const adminsUpdate = defineRule({
  resourceType: 'admins',
  action: 'update',
  data,

  change(state, { revision: signed, members, threshold, onChain }) {
    const { id } = state.admins;
    const admins = expectRevision(state, 'admin', { id, revision: signed }, 'the set of admins');
    if (!admins.ok) return admins;
    const difference = membersDiffer(state, members);
    if (difference !== undefined) return refuse('conflict', difference);
    const memberIds = members.map((member) => member.id).sort();
    return accept([{ type: 'admin', id, after: { id, memberIds, threshold, ...(onChain && { onChain }) } }]);
  },

  summary({ state }, signed) {
    const { members, threshold } = signed;
    const { added, removed } = describeUpdates(
      state,
      members.map(({ id }) => id),
    );
    const parts = [
      describeThreshold(state.admins.threshold, threshold),
      ...(added.length === 0 ? [] : [`add ${added.length}`]),
      ...(removed.length === 0 ? [] : [`remove ${removed.length}`]),
    ];
    const first = `Change the admins: ${parts.join(', ')}`;
    return dataSummary(first, [...describeSafe(state, signed), ...added, ...removed]);
  },
});
