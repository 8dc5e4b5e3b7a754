import type { ApprovalContext, ApprovalRecord, ApprovalRules, MemberSummary } from './approval';
import { collectsSignatures, tally } from './approvalState';

/** The signatures that an approval waits for. */
export interface MissingVotes {
  /** A transaction waits for its initiator before anybody can approve it. */
  readonly type: 'initiator' | 'approve';
  /** How many more are needed. */
  readonly needed: number;
  /** Who may give one and has not signed either way, in the order of their ids. */
  readonly members: readonly MemberSummary[];
}

/** The signatures that an approval waits for now; null where it waits for none. */
export function missingVotes<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
): MissingVotes | null {
  if (!collectsSignatures(record, now.time)) return null;
  const { signatureStatus, threshold, approvals, rejections } = tally(rules, record, now);
  const mayGive = (type: 'initiator' | 'approve') =>
    rules.people(now).filter((member) => rules.mayVote(record, now, type, member));
  if (signatureStatus === 'pendingInitiatorSignature') {
    return { type: 'initiator', needed: 1, members: mayGive('initiator') };
  }
  if (signatureStatus !== 'pendingReviewSignatures') return null;
  const signed = new Set([...approvals, ...rejections].map(({ id }) => id));
  return {
    type: 'approve',
    needed: threshold - approvals.length,
    members: mayGive('approve').filter(({ id }) => !signed.has(id)),
  };
}
