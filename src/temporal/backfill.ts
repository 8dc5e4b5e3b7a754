import { restartWorkflow, type WorkflowSender } from './client';
import { backfillWorkflowId } from './ids';

/** The name under which the workflow is registered that reads the movements of the past. */
const BACKFILL_WORKFLOW = 'backfillWorkflow';

/** Has the movements of the past read on a network, unless they are being read. Throws TemporalUnavailable. */
export async function startBackfill(sender: WorkflowSender, networkId: number): Promise<void> {
  const { queues } = sender;
  await restartWorkflow(sender, BACKFILL_WORKFLOW, {
    workflowId: backfillWorkflowId(queues, networkId),
    taskQueue: queues.workflows,
    args: [{ networkId }],
  });
}
