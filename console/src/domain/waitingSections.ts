import type { Approval } from '@orgwallet/client';
import { needsSignature, outcomesOf, type Viewer } from './eligibility.ts';

/** The section of the page of open requests: what a request waits for. */
type WaitingSection = 'you' | 'failed' | 'processing' | 'others' | 'closed';

const CLOSED: readonly (string | null)[] = ['completed', 'rejected'];

/** Whether the execution of a request has failed or was blocked, and does not continue by itself. */
export function isFailed({ executionStatus, failure }: Approval): boolean {
  return (executionStatus === 'failed' || executionStatus === 'blocked') && !failure?.resumes;
}

/** Whether a request that failed cannot be executed again. */
export const hasFailedForGood = ({ failure }: Approval): boolean => failure?.retryable === false;

/** The section that a request belongs to. */
export function sectionOf(approval: Approval, viewer: Viewer): WaitingSection {
  const { executionStatus, signatureStatus, failure } = approval;
  if (CLOSED.includes(executionStatus)) return 'closed';
  if (executionStatus === 'processing' || failure?.resumes) return 'processing';
  if (executionStatus !== null) return failure?.retryable === false ? 'closed' : 'failed';
  if (signatureStatus === 'expired') return 'closed';
  const outcomes = outcomesOf(approval);
  if (outcomes.approve || outcomes.reject) return 'you';
  return needsSignature(approval, viewer) ? 'you' : 'others';
}

/** Requests by what they wait for, each in the order of their deadlines. */
export function bySection(
  approvals: readonly Approval[],
  viewer: Viewer,
): { readonly [S in WaitingSection]: readonly Approval[] } {
  const sorted = [...approvals].sort((one, two) => Date.parse(one.expiresAt) - Date.parse(two.expiresAt));
  const of = (section: WaitingSection) => sorted.filter((one) => sectionOf(one, viewer) === section);
  return {
    you: of('you'),
    failed: of('failed'),
    processing: of('processing'),
    others: of('others'),
    closed: of('closed'),
  };
}
