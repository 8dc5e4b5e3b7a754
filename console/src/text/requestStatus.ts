import type { Approval, Schema } from '@orgwallet/client';
import { failureTitle } from './failures.ts';
import { type Missing, missingText } from './requestRow.ts';

/** Where a request is, and what is to be done about it. */
interface RequestStatus {
  readonly title: string;
  readonly text: string;
  readonly tone: 'plain' | 'accent' | 'good' | 'warning' | 'danger';
}

/** What can follow a failure. */
function sequelOf({ resumes, retryable }: Schema['Failure']): string {
  if (resumes) return 'It continues by itself: do not request it again.';
  return retryable ? 'It can be executed again.' : 'It cannot be executed again.';
}

function failedStatus({ executionStatus }: Approval, failure: Schema['Failure']): RequestStatus {
  const title = `${executionStatus === 'blocked' ? 'Blocked' : 'Failed'}: ${failureTitle(failure.code)}`;
  return { title, text: `${failure.message} ${sequelOf(failure)}`, tone: 'danger' };
}

const READY: { readonly [status: string]: string } = {
  approvalReady: 'It has all approvals: it can be executed.',
  rejectionReady: 'It has all rejections: the rejection can be executed.',
  approvalAndRejectionReady: 'It has enough approvals and rejections: either can be executed.',
};

function openStatus(
  { signatureStatus }: Approval,
  needsViewer: boolean,
  missing: Missing | undefined,
): RequestStatus {
  const ready = READY[signatureStatus];
  if (ready) return { title: 'Ready to execute', text: ready, tone: 'accent' };
  const lacks = missing ? `Missing: ${missingText(missing)}.` : '';
  if (needsViewer) return { title: 'Needs your signature', text: lacks, tone: 'accent' };
  return { title: 'Waiting for others', text: lacks, tone: 'plain' };
}

/** The status of a request. `needsViewer`: whoever looks at it can sign it. */
export function requestStatus(
  approval: Approval,
  {
    isExpired,
    needsViewer,
    missing,
  }: { readonly isExpired: boolean; readonly needsViewer: boolean; readonly missing: Missing | undefined },
): RequestStatus {
  const { executionStatus, failure } = approval;
  if (executionStatus === 'completed') {
    return { title: 'Completed', text: 'It was executed as it was signed.', tone: 'good' };
  }
  if (executionStatus === 'rejected') {
    return { title: 'Rejected', text: 'It was rejected. Nothing was changed.', tone: 'warning' };
  }
  if (executionStatus === 'processing') {
    return { title: 'Processing', text: 'It is being executed.', tone: 'plain' };
  }
  if (failure) return failedStatus(approval, failure);
  if (isExpired) {
    return {
      title: 'Expired',
      text: 'It can no longer be signed. Create a new request.',
      tone: 'warning',
    };
  }
  return openStatus(approval, needsViewer, missing);
}
