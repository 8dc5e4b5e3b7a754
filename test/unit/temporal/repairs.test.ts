import pino from 'pino';
import { Repairs } from '../../../activities/reconciler/repairs';
import type { Db } from '../../../src/db/database';
import { TemporalUnavailable, type WorkflowSender } from '../../../src/temporal/client';
import { taskQueues } from '../../../src/temporal/ids';

/** One pass that notifies workflows; those with these indexes cannot be reached. */
async function pass(total: number, fails: (index: number) => boolean): Promise<Repairs> {
  const client = {
    withDeadline: (_deadline: number, call: () => Promise<void>) => call(),
    workflow: {
      getHandle: (id: string) => ({
        async signal() {
          if (fails(Number(id.replace(/\D/g, '')))) throw new Error('unavailable');
        },
      }),
    },
  };
  const sender = { client, queues: taskQueues('q'), deadlineMs: 1_000 } as unknown as WorkflowSender;
  const deps = {
    db: {} as Db,
    sender,
    build: undefined,
    networkIds: [],
    everyMs: 1_000,
    logger: pino({ level: 'silent' }),
    countRepair: () => undefined,
  };
  const repairs = new Repairs(deps, new AbortController().signal);
  const orphaned = Array.from({ length: total }, (_, index) => `workflow-${index}`);
  const nothing = { compared: 0, missingWorkflow: [], stalled: [], networksChanged: [], diverged: [] };
  await repairs.run({ ...nothing, orphaned }, () => true);
  return repairs;
}

test('a pass goes on past repairs that fail while others succeed', async () => {
  const { counts } = await pass(200, (index) => index % 4 === 0);
  expect(counts).toMatchObject({ refreshed: 150, failed: 50 });
});

test('a pass ends where nothing succeeds any more', async () => {
  await expect(pass(200, (index) => index >= 50)).rejects.toThrow(TemporalUnavailable);
});
