import { adminsUpdateBody } from '../contract/adminChanges';
import { type MemberSummary, toMemberSummary } from '../domain/approval';
import { membersOf } from '../domain/governance';
import { accept, refuse } from '../domain/refusal';
import { adminsUpdate } from './adminsUpdate';
import { defineOperation } from './kind';
import { unknownMember } from './members.request';

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

/** How it is proposed. */
export const adminsUpdateRequest = defineOperation(adminsUpdate, {
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

  async plan({ state }, { updates, threshold, onChain: asked }) {
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
    const members = membersOf(state, [...adminIds].sort()).map(toMemberSummary);
    const refused = cannotDecide(members, threshold);
    if (refused) return refused;
    const onChain = asked ?? admins.onChain === true;
    const isSwitched = onChain !== (admins.onChain === true);
    if (updates.length === 0 && threshold === admins.threshold && !isSwitched) {
      return refuse('validationError', 'nothing about the admins would change', 'updates');
    }
    return accept({
      data: { revision: admins.revision, members, threshold, ...(onChain ? { onChain } : {}) },
      claims: [],
      mentions: [...new Set([...members.map(({ id }) => id), ...ids])].map((id) => `member:${id}`),
    });
  },
});
