import type { Approval, Schema, VoteType } from '@orgwallet/client';
import { type Viewer, votesOf } from '../domain/eligibility.ts';
import { counted } from './counted.ts';

/** How many votes of a kind are missing once one more is given. */
function missingAfter({ threshold, approvals, rejections }: Approval, vote: 'approve' | 'reject'): number {
  const given = vote === 'approve' ? approvals : rejections;
  return Math.max(threshold, 1) - given.length - 1;
}

/** Whether a vote decides: nothing more is needed to execute its outcome. */
export function isDecisive(approval: Approval, vote: VoteType): boolean {
  return vote === 'initiator' ? approval.threshold === 0 : missingAfter(approval, vote) <= 0;
}

/** What the button of a vote does. */
export function voteLabel(approval: Approval, vote: VoteType, execute: boolean): string {
  if (vote === 'initiator') {
    if (approval.threshold > 0) {
      return `Sign: ${counted(approval.threshold, 'approval')} needed`;
    }
    return execute ? 'Sign and execute' : 'Sign';
  }
  const verb = vote === 'approve' ? 'Approve' : 'Reject';
  const missing = missingAfter(approval, vote);
  if (missing > 0) return `${verb}: ${missing} more after yours`;
  if (!execute) return verb;
  return vote === 'approve' ? 'Approve and execute' : 'Reject and execute';
}

/** What the button of an execution does. */
export function executeLabel({ executionStatus }: Approval, outcome: 'approve' | 'reject'): string {
  if (outcome === 'reject') return 'Execute rejection';
  return executionStatus === null ? 'Execute' : 'Execute again';
}

const STATES: { readonly [state: string]: string } = {
  processing: 'Processing',
  completed: 'Completed',
  rejected: 'Rejected',
  failed: 'Failed',
  blocked: 'Blocked',
  pendingInitiatorSignature: 'Awaiting initiator',
  pendingReviewSignatures: 'Awaiting approvals',
  approvalReady: 'Ready to execute',
  rejectionReady: 'Ready to execute rejection',
  approvalAndRejectionReady: 'Ready to execute approval or rejection',
  expired: 'Expired',
};

const TONES: { readonly [state: string]: 'good' | 'danger' | 'warning' } = {
  completed: 'good',
  rejected: 'warning',
  failed: 'danger',
  blocked: 'danger',
  expired: 'warning',
};

/** The state of a request in a few words; `now` decides whether it has expired while it is looked at. */
export function stateOf(
  { executionStatus, signatureStatus, expiresAt }: Approval,
  now: number,
): { readonly text: string; readonly tone: 'plain' | 'good' | 'danger' | 'warning' | 'accent' } {
  const isOver = executionStatus === null && now >= Date.parse(expiresAt);
  const state = isOver ? 'expired' : (executionStatus ?? signatureStatus);
  return { text: STATES[state] ?? state, tone: TONES[state] ?? 'accent' };
}

/** What a member is asked for, in a word or two. */
export function taskOf(approval: Approval, viewer: Viewer): string {
  return votesOf(approval, viewer).initiator ? 'Sign as initiator' : 'Approve or reject';
}

/** What has become of a request after somebody voted or executed: a refusal is shown with its reason. */
export function doneText({ executionStatus }: Approval): string {
  switch (executionStatus) {
    case 'completed':
      return 'Executed.';
    case 'rejected':
      return 'The rejection was executed.';
    case 'processing':
      return 'Recorded. The execution has begun.';
    case 'blocked':
    case 'failed':
      return 'Recorded, but not executed: the reason is above.';
    default:
      return 'Your signature was recorded.';
  }
}

/** How far the signatures are. */
export function tallyText({ signatureStatus, approvals, rejections, threshold }: Approval): string {
  if (signatureStatus === 'pendingInitiatorSignature') return "awaiting the initiator's signature";
  const rejected = rejections.length > 0 ? `, ${counted(rejections.length, 'rejection')}` : '';
  return threshold === 0
    ? `no approval needed${rejected}`
    : `${approvals.length} of ${threshold} approvals${rejected}`;
}

/** What chain transactions of relayers were for. */
export const FEE_KINDS: { readonly [kind in Schema['FeeKind']]: string } = {
  transaction: 'transaction',
  cancellation: 'cancellation',
  deployment: 'deployment',
  filler: 'filler',
  upkeep: 'upkeep of the admins’ Safe',
};
