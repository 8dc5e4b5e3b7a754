import { collectsSignatures, shownFailure, tally } from './approvalState';
import { type ProposalContext, type ProposalRecord, proposalRules } from './proposal';
import { proposalPayload } from './signing';

/** Leaves out what is null: a response has null only where the contract says so. */
function withoutNulls<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null && v !== undefined)) as never;
}

/**
 * A proposal as the API shows it. `created: true` is the response to its creation, which also shows the initiator's
 * payload. `domainSalt` is the organization's. `payload` creates the payloads; a caller may cache them, because what is
 * signed about a proposal never changes.
 */
export function proposalView(
  record: ProposalRecord,
  now: ProposalContext,
  domainSalt: string,
  options: { created?: boolean; payload?: typeof proposalPayload } = {},
) {
  const payload = options.payload ?? proposalPayload;
  const { signatureStatus, threshold, approvals, rejections } = tally(proposalRules, record, now);
  return {
    id: record.id,
    kind: `${record.resourceType}/${record.action}`,
    resourceType: record.resourceType,
    action: record.action,
    signatureStatus,
    executionStatus: record.executionStatus,
    threshold,
    approvals,
    rejections,
    createdAt: record.createdAt.toISOString(),
    expiresAt: record.expiresAt.toISOString(),
    summary: record.summary,
    data: record.data,
    ...(collectsSignatures(record, now.time)
      ? {
          signingPayloads: {
            approvePayload: payload('ApproveProposal', domainSalt, record),
            rejectPayload: payload('RejectProposal', domainSalt, record),
            ...(options.created ? { initiatorPayload: payload('InitiateProposal', domainSalt, record) } : {}),
          },
        }
      : {}),
    ...(record.result && (record.executionStatus === 'completed' || record.executionStatus === 'rejected')
      ? { result: record.result }
      : {}),
    ...shownFailure(proposalRules, record, now),
    ...(record.deployments.length > 0
      ? { deployments: record.deployments.map((deployment) => withoutNulls(deployment)) }
      : {}),
    notes: record.notes,
  };
}
