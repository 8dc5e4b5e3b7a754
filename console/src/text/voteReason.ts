import type { Approval } from '@orgwallet/client';
import { hasMember, type Viewer, votesOf } from '../domain/eligibility.ts';
import { plainName, quotedName } from '../domain/quotedName.ts';

/** Why somebody has nothing to sign about an open request; undefined: they have. */
export function voteReason(approval: Approval, viewer: Viewer): string | undefined {
  const { approvals, rejections, signatureStatus, threshold, signingPayloads } = approval;
  const votes = votesOf(approval, viewer);
  if (!signingPayloads || votes.initiator || votes.approve || votes.reject) return undefined;
  if (hasMember(rejections, viewer.memberId)) return 'You have rejected it.';
  if (hasMember(approvals, viewer.memberId)) return 'You have approved it.';
  if ('resourceType' in approval) return 'Only admins sign proposals.';
  if (signatureStatus === 'pendingInitiatorSignature') {
    return `${plainName(approval.initiator.name)}, who created it, has to sign it first.`;
  }
  if (threshold === 0) return 'Its policy needs no approval.';
  const policy = viewer.policies.find(({ id }) => id === approval.policy.id);
  if (!policy) return 'Its policy was removed.';
  return `The policy ${quotedName(policy.name)} does not name you as an approver.`;
}
