import type { Approval, Schema, Transaction } from '@orgwallet/client';

/** Who looks at a request, and what is needed to know what they may do. */
export interface Viewer {
  readonly memberId: string;
  readonly isAdmin: boolean;
  readonly policies: readonly Schema['Policy'][];
  readonly groups: readonly Pick<Schema['Group'], 'id' | 'members'>[];
}

/** Whether a member is among these. */
export const hasMember = (members: readonly { id: string }[], id: string) =>
  members.some((member) => member.id === id);

/** The members that a setting of a policy names, as they are now. */
export function membersNamedBy<Member extends { readonly id: string }>(
  setting: Schema['InitiatorSetting'] | Schema['ApproverSetting'],
  now: {
    readonly members: readonly Member[];
    readonly groups: readonly { readonly id: string; readonly members: readonly Member[] }[];
  },
): readonly Member[] {
  return setting.type === 'user'
    ? now.members.filter(({ id }) => id === setting.memberId)
    : (now.groups.find(({ id }) => id === setting.groupId)?.members ?? []);
}

const isNamedBy = (
  setting: Schema['InitiatorSetting'] | Schema['ApproverSetting'],
  { memberId, groups }: Viewer,
) => hasMember(membersNamedBy<{ id: string }>(setting, { members: [{ id: memberId }], groups }), memberId);

function approves({ policy, initiator }: Transaction, viewer: Viewer): boolean {
  const setting = viewer.policies.find(({ id }) => id === policy.id)?.approverSetting;
  if (!setting || (setting.excludeInitiator && initiator.id === viewer.memberId)) return false;
  return isNamedBy(setting, viewer);
}

function initiates({ policy }: Transaction, viewer: Viewer): boolean {
  const found = viewer.policies.find(({ id }) => id === policy.id);
  if (!found) return false;
  return found.initiatorSetting === null || isNamedBy(found.initiatorSetting, viewer);
}

/** The votes that a member can give now. */
interface Votes {
  readonly initiator: boolean;
  readonly approve: boolean;
  readonly reject: boolean;
}

const NO_VOTES: Votes = { initiator: false, approve: false, reject: false };

/** Whether a member has given a vote, and would not be asked for it again: a contract wallet may not accept it any more. */
function hasSigned(
  { executionStatus, failure }: Approval,
  voters: Approval['approvals'],
  { memberId }: Viewer,
) {
  const voter = voters.find(({ id }) => id === memberId);
  const mayBeRefused = executionStatus === 'blocked' && failure?.code === 'stale';
  return voter !== undefined && !(mayBeRefused && voter.walletKind === 'contract');
}

/** What a member can sign now. The service decides; this is what it would say. */
export function votesOf(approval: Approval, viewer: Viewer): Votes {
  const { signingPayloads, approvals, rejections } = approval;
  if (!signingPayloads) return NO_VOTES;
  const open = {
    approve: !hasSigned(approval, approvals, viewer),
    reject: !hasSigned(approval, rejections, viewer),
  };
  if ('resourceType' in approval) return viewer.isAdmin ? { initiator: false, ...open } : NO_VOTES;
  const initiator =
    signingPayloads.initiatorPayload !== undefined && approval.initiator.id === viewer.memberId;
  if (!('approvePayload' in signingPayloads)) return { ...NO_VOTES, initiator };
  if (approval.threshold === 0) {
    return { approve: false, initiator, reject: open.reject && initiates(approval, viewer) };
  }
  return approves(approval, viewer) ? { initiator, ...open } : { ...NO_VOTES, initiator };
}

/** Whether somebody can still sign it who has not: the initiator, or an approver who has not voted. */
export function needsSignature(approval: Approval, viewer: Viewer): boolean {
  const votes = votesOf(approval, viewer);
  const hasVoted = [approval.approvals, approval.rejections].some((all) => hasMember(all, viewer.memberId));
  return votes.initiator || (votes.approve && !hasVoted);
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
