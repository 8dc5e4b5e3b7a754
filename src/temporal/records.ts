import type { RecordRef, WorkflowGone } from '../domain/reconciliation';
import { refreshWorkflow, restoreProposal, type WorkflowSender } from './client';
import { proposalWorkflowId, transactionWorkflowId } from './ids';
import { restoreTransaction } from './transactions';

/** The id of a record's workflow. */
export function recordWorkflowId(record: RecordRef): string {
  const { organizationId, id } = record;
  return record.kind === 'proposal'
    ? proposalWorkflowId(organizationId, record.resourceType, id)
    : transactionWorkflowId(organizationId, id);
}

/** Tells a record's workflow to read it again. Throws TemporalUnavailable. */
export async function refreshRecord(sender: WorkflowSender, record: RecordRef): Promise<void> {
  return refreshWorkflow(sender, recordWorkflowId(record));
}

/** Starts the workflow of an open record again. Returns the id of the run. Throws TemporalUnavailable. */
export async function restartRecord(
  sender: WorkflowSender,
  record: RecordRef,
  found: WorkflowGone,
): Promise<string> {
  const { organizationId, id } = record;
  if (record.kind === 'transaction') {
    return restoreTransaction(sender, { organizationId, transactionId: id, found });
  }
  const { resourceType, action } = record;
  return restoreProposal(sender, { organizationId, proposalId: id, resourceType, action, found });
}
