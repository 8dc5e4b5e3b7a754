import type { Approval, Schema, Transaction } from '@orgwallet/client';

/** Who looks at a request, and what is needed to know what they may do. */
export interface Viewer {
  readonly memberId: string;
  readonly isAdmin: boolean;
  readonly policies: readonly Schema['Policy'][];
  readonly groups: readonly Pick<Schema['Group'], 'id' | 'members'>[];
}

const has = (members: readonly { id: string }[], id: string) => members.some((member) => member.id === id);

function approves(
  { policy, initiator }: Transaction,
  { memberId, policies, groups }: Viewer,
): boolean | undefined {
  const found = policies.find(({ id }) => id === policy.id);
  const setting = found?.approverSetting;
  if (!found) return undefined;
  if (!setting || (setting.excludeInitiator && initiator.id === memberId)) return false;
  if (setting.type === 'user') return setting.memberId === memberId;
  return has(groups.find(({ id }) => id === setting.groupId)?.members ?? [], memberId);
}

function initiates(transaction: Transaction, { memberId, policies, groups }: Viewer): boolean {
  const found = policies.find(({ id }) => id === transaction.policy.id);
  if (!found) return false;
  const { initiatorSetting: setting } = found;
  if (setting === null) return true;
  if (setting.type === 'user') return setting.memberId === memberId;
  return has(groups.find(({ id }) => id === setting.groupId)?.members ?? [], memberId);
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
  const open = { approve: !has(approvals, viewer.memberId), reject: !has(rejections, viewer.memberId) };
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

/** What a request waits for. */
export type Standing = 'you' | 'failed' | 'processing' | 'others' | 'closed';

const CLOSED: readonly (string | null)[] = ['completed', 'rejected'];

/** Where a request belongs on the page of what waits. */
export function standingOf(approval: Approval, viewer: Viewer): Standing {
  const { executionStatus, signatureStatus, failure, approvals, rejections } = approval;
  if (CLOSED.includes(executionStatus)) return 'closed';
  if (executionStatus === 'processing') return 'processing';
  if (executionStatus !== null) return failure?.retryable === false ? 'closed' : 'failed';
  if (signatureStatus === 'expired') return 'closed';
  const outcomes = outcomesOf(approval);
  if (outcomes.approve || outcomes.reject) return 'you';
  const votes = votesOf(approval, viewer);
  const hasVoted = has(approvals, viewer.memberId) || has(rejections, viewer.memberId);
  return votes.initiator || (votes.approve && !hasVoted) ? 'you' : 'others';
}

/** Requests by what they wait for, each in the order of their deadlines. */
export function sortedByStanding(
  approvals: readonly Approval[],
  viewer: Viewer,
): { readonly [S in Standing]: readonly Approval[] } {
  const sorted = [...approvals].sort((one, two) => Date.parse(one.expiresAt) - Date.parse(two.expiresAt));
  const of = (standing: Standing) => sorted.filter((one) => standingOf(one, viewer) === standing);
  return {
    you: of('you'),
    failed: of('failed'),
    processing: of('processing'),
    others: of('others'),
    closed: of('closed'),
  };
}

/** What there is to do about a request, in a word or two. */
export function taskOf(approval: Approval, viewer: Viewer): string {
  const { initiator, approve } = votesOf(approval, viewer);
  if (initiator) return 'Sign as initiator';
  const outcomes = outcomesOf(approval);
  if (approval.executionStatus !== null && outcomes.approve) return 'Execute again';
  if (outcomes.approve) return 'Execute';
  if (outcomes.reject) return 'Execute rejection';
  return approve ? 'Approve or reject' : 'View';
}

/** How far the signatures are. */
export function tallyText({ signatureStatus, approvals, rejections, threshold }: Approval): string {
  if (signatureStatus === 'pendingInitiatorSignature') return "awaiting the initiator's signature";
  const { length } = rejections;
  const rejected = length > 0 ? `, ${length} rejection${length === 1 ? '' : 's'}` : '';
  return threshold === 0
    ? `no approval needed${rejected}`
    : `${approvals.length} of ${threshold} approvals${rejected}`;
}
