import type { ApprovalContext, ApprovalRecord, ApprovalRules } from './approval';
import { collectsSignatures, tally } from './approvalState';

/** Whether a record waits for a member: too few have signed, and they can sign and have not. */
export function isMissing<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  memberId: string,
): boolean {
  const member = rules.people(now).find(({ id }) => id === memberId);
  if (!member || !collectsSignatures(record, now.time)) return false;
  const { signatureStatus, approvals, rejections } = tally(rules, record, now);
  if (signatureStatus === 'pendingInitiatorSignature') return rules.mayVote(record, now, 'initiator', member);
  const hasVoted = [...approvals, ...rejections].some(({ id }) => id === memberId);
  return (
    signatureStatus === 'pendingReviewSignatures' &&
    !hasVoted &&
    rules.mayVote(record, now, 'approve', member)
  );
}
