import type { ScheduleHandle, WorkflowHandle } from '@temporalio/client';
import type { Db } from '../../src/db/database';
import type { AuditLogRow } from '../../src/db/tables';
import type { ReconcileSummary } from '../../src/domain/reconciliation';
import { compare, countRanges, type Differences } from '../../src/reconciler/compare';
import type { WorkflowSender } from '../../src/temporal/client';
import { reconcilerScheduleId, type TaskQueues, taskQueues } from '../../src/temporal/ids';
import type { Shown } from '../support/api';
import { until } from '../support/until';
import { auditOf, type World } from './world';

/** The reconciler of a service that makes a pass every second. */
export interface Reconciler {
  readonly queues: TaskQueues;
  readonly sender: WorkflowSender;
  readonly schedule: ScheduleHandle;
  /** The workflow of the last pass made by hand. */
  lastPass(): WorkflowHandle;
  /** One pass beside those of the schedule. */
  pass(): Promise<ReconcileSummary>;
  /** Runs something while only the passes of the test are made. */
  withoutSchedule<T>(work: () => Promise<T>): Promise<T>;
}

/** The reconciler of a world, whose passes a test runs by hand. */
export function reconcilerOf({ temporal, config }: World): Reconciler {
  const queues = taskQueues(config.temporal.taskQueue);
  const schedule = temporal.schedule.getHandle(reconcilerScheduleId(queues));
  let passes = 0;
  const passId = () => `${queues.workflows}/by-hand-${passes}`;
  return {
    queues,
    schedule,
    sender: { client: temporal, queues, deadlineMs: 5_000 },
    lastPass: () => temporal.workflow.getHandle(passId()),
    pass: () => {
      passes += 1;
      return temporal.workflow.execute<() => Promise<ReconcileSummary>>('reconcileWorkflow', {
        workflowId: passId(),
        taskQueue: queues.workflows,
      });
    },
    withoutSchedule: async (work) => {
      await schedule.pause('a test');
      try {
        await until('no pass runs', async () => (await schedule.describe()).info.runningActions.length === 0);
        return await work();
      } finally {
        await schedule.unpause();
      }
    },
  };
}

/** What a comparison of everything finds. */
export async function differencesOf(
  { db }: Pick<World, 'db'>,
  { sender }: Pick<Reconciler, 'sender'>,
): Promise<Differences> {
  const compared = { db, sender, networkIds: [] };
  return compare(compared, await countRanges(compared));
}

/** Makes a record old enough for the reconciler, which leaves alone what Temporal's list may not yet have. */
export async function aged<T extends { id: string }>(db: Db, record: T): Promise<T> {
  await db('approvals')
    .where({ id: record.id })
    .update({ created_at: db.raw(`created_at - interval '1 minute'`) });
  return record;
}

/** What was audited about a record under one action, oldest first. */
export async function entriesOf(db: Db, { id }: Shown, action: string): Promise<AuditLogRow[]> {
  return db('audit_log').where({ resource_id: id, action }).orderBy('position');
}

/** Waits until a new run of a record's workflow runs, and its first act is done. */
export async function untilRestored(
  db: Db,
  handle: WorkflowHandle,
  record: Shown,
  oldRunId: string,
): Promise<void> {
  await until(`the workflow of ${record.id} is started again`, async () => {
    const { status, runId } = await handle.describe();
    return status.name === 'RUNNING' && runId !== oldRunId;
  });
  await until('an audit entry says so', async () =>
    (await auditOf(db, record)).some((action) => action.endsWith('.restored')),
  );
}
