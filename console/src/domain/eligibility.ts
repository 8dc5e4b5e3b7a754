import type { Approval, Schema, Transaction } from '@orgwallet/client';

/** Who looks at a request, and what is needed to know what they may do. */
export interface Viewer {
  readonly memberId: string;
  readonly isAdmin: boolean;
  readonly policies: readonly Schema['Policy'][];
  readonly groups: readonly Pick<Schema['Group'], 'id' | 'members'>[];
}

export const hasMember = (members: readonly { id: string }[], id: string) =>
  members.some((member) => member.id === id);

function approves(
  { policy, initiator }: Transaction,
  { memberId, policies, groups }: Viewer,
): boolean | undefined {
  const found = policies.find(({ id }) => id === policy.id);
  const setting = found?.approverSetting;
  if (!found) return undefined;
  if (!setting || (setting.excludeInitiator && initiator.id === memberId)) return false;
  if (setting.type === 'user') return setting.memberId === memberId;
  return hasMember(groups.find(({ id }) => id === setting.groupId)?.members ?? [], memberId);
}

function initiates(transaction: Transaction, { memberId, policies, groups }: Viewer): boolean {
  const found = policies.find(({ id }) => id === transaction.policy.id);
  if (!found) return false;
  const { initiatorSetting: setting } = found;
  if (setting === null) return true;
  if (setting.type === 'user') return setting.memberId === memberId;
  return hasMember(groups.find(({ id }) => id === setting.groupId)?.members ?? [], memberId);
}

/** The votes that a member can give now. */
export interface Votes {
  readonly initiator: boolean;
  readonly approve: boolean;
  readonly reject: boolean;
}

const NO_VOTES: Votes = { initiator: false, approve: false, reject: false };

/** What a member can sign now. The service decides; this is what it would say. */
export function votesOf(approval: Approval, viewer: Viewer): Votes {
  const { signingPayloads, approvals, rejections } = approval;
  if (!signingPayloads) return NO_VOTES;
  const open = {
    approve: !hasMember(approvals, viewer.memberId),
    reject: !hasMember(rejections, viewer.memberId),
  };
  if ('resourceType' in approval) return viewer.isAdmin ? { initiator: false, ...open } : NO_VOTES;
  if ('initiatorPayload' in signingPayloads) {
    return { ...NO_VOTES, initiator: approval.initiator.id === viewer.memberId };
  }
  if (approval.threshold === 0) return { ...NO_VOTES, reject: open.reject && initiates(approval, viewer) };
  return approves(approval, viewer) ? { initiator: false, ...open } : NO_VOTES;
}

/** The outcomes that can be executed now. */
export function outcomesOf({ signatureStatus, executionStatus, failure }: Approval): {
  readonly approve: boolean;
  readonly reject: boolean;
} {
  const isParked = executionStatus === 'failed' || executionStatus === 'blocked';
  const isStartable = executionStatus === null || (isParked && failure?.retryable !== false);
  return {
    approve: isStartable && ['approvalReady', 'approvalAndRejectionReady'].includes(signatureStatus),
    reject: isStartable && ['rejectionReady', 'approvalAndRejectionReady'].includes(signatureStatus),
  };
}
