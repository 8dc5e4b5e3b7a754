import type { Config } from '../../config';
import type { Db } from '../../db/database';
import { compare, countRanges } from '../../reconciler/compare';
import type { WorkflowSender } from '../../temporal/client';
import { approvalWorkflowId } from '../../temporal/ids';
import { findWorkflow } from '../../temporal/runs';
import { describeReconciler } from '../../temporal/schedule';
import { count, duration } from '../text';
import { type Finding, fail, firstOf, ok, PATIENCE_MS, warn } from './finding';

/** Maximum of approvals without a running workflow that are checked one by one; each costs a call. */
const MAX_CHECKED = 100;
const AT_ONCE = 10;
/** Passes that may be missed before it is a warning. */
const TURNS = 3;
/** A pass takes longer when it has many workflows to start. */
const LONG_PASS_MS = 60_000;

/** Open records whose workflow does not run, found as the reconciler finds them. */
export async function checkWorkflows(
  db: Db,
  sender: WorkflowSender,
  config: Pick<Config, 'networks'>,
): Promise<Finding[]> {
  const networkIds = config.networks.map(({ id }) => id);
  const ranges = await countRanges({ db, sender });
  const { missingWorkflow } = await compare({ db, sender, networkIds }, ranges);
  const checked = missingWorkflow.slice(0, MAX_CHECKED);
  const stopped: string[] = [];
  for (let start = 0; start < checked.length; start += AT_ONCE) {
    const founds = await Promise.all(
      checked
        .slice(start, start + AT_ONCE)
        .map(async (record) => ({ record, found: await findWorkflow(sender, approvalWorkflowId(record)) })),
    );
    stopped.push(...founds.flatMap(({ record, found }) => (found.status === 'running' ? [] : [record.id])));
  }
  if (stopped.length === 0) {
    const open = ranges.reduce((sum, range) => sum + range.open, 0);
    return [ok('workflows', `${count(open, 'open record has', 'open records have')} one`)];
  }
  const atLeast = missingWorkflow.length > checked.length ? 'at least ' : '';
  return [
    warn(
      'workflows',
      `${atLeast}${count(stopped.length, 'open record has', 'open records have')} no running workflow: ${firstOf(stopped)}`,
      'no action needed: the reconciler restarts it (or closes what an operator ended) within a minute. If it remains, check the reconciler and the worker',
    ),
  ];
}

/** The schedule of the reconciler. `nowMs`: by the database's clock, where it is known. */
export async function checkReconciler(
  sender: WorkflowSender,
  { reconcileEveryMs }: Pick<Config, 'reconcileEveryMs'>,
  nowMs: () => number,
): Promise<Finding[]> {
  const part = 'reconciler';
  const { client, queues } = sender;
  const described = await client.withDeadline(Date.now() + PATIENCE_MS, () =>
    describeReconciler({ client, queues }),
  );
  if (!described) {
    return [fail(part, 'schedule not found in Temporal', 'start a process whose ORGWALLET_ROLES has worker')];
  }
  const { state, info, scheduleId } = described;
  if (state.paused) {
    return [
      warn(
        part,
        `schedule ${scheduleId} is paused${state.note ? ` (${state.note})` : ''}`,
        'unpause it in the Temporal UI under Schedules: nothing is repaired until then',
      ),
    ];
  }
  const lastMs = info.recentActions.at(-1)?.takenAt.getTime();
  const last = lastMs === undefined ? 'no pass yet' : `last pass ${duration(nowMs() - lastMs)} ago`;
  const text = `every ${duration(reconcileEveryMs)}, ${last}`;
  const sinceMs = nowMs() - (lastMs ?? info.createdAt.getTime());
  // While a pass runs, the following ones are skipped.
  const limitMs = TURNS * reconcileEveryMs + LONG_PASS_MS;
  return [
    sinceMs > limitMs
      ? warn(part, text, `check ${scheduleId} in the Temporal UI under Schedules, and the worker`)
      : ok(part, text),
  ];
}
