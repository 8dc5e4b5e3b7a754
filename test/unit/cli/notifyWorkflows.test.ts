import { notifyWorkflows } from '../../../src/cli/keyCommands';
import type { SummarizedApproval } from '../../../src/db/approvalRefs';
import type { WorkflowSender } from '../../../src/temporal/client';
import { taskQueues } from '../../../src/temporal/ids';

test('a workflow that cannot be notified, for whatever reason, keeps no other from being notified', async () => {
  const notified: string[] = [];
  const client = {
    withDeadline: (_deadline: number, call: () => Promise<void>) => call(),
    workflow: {
      getHandle: (id: string) => ({
        async signal() {
          if (id.includes('txn_1')) throw new Error('unavailable');
          notified.push(id);
        },
      }),
    },
  };
  const sender = { client, queues: taskQueues('q'), deadlineMs: 1_000 } as unknown as WorkflowSender;
  const closed = ['txn_1', 'txn_2', 'txn_3'].map(
    (id) => ({ subject: 'transaction', organizationId: 'org_1', id, summary: '' }) as SummarizedApproval,
  );
  expect(await notifyWorkflows(() => sender, closed)).toBe(false);
  expect(notified).toEqual(['org_1/transactions/txn_2', 'org_1/transactions/txn_3']);
  const broken = () => {
    throw new Error('TEMPORAL_ADDRESS is not set');
  };
  expect(await notifyWorkflows(broken, closed)).toBe(false);
});
