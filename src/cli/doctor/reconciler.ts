import type { Config } from '../../config';
import type { Db } from '../../db/database';
import { compare } from '../../reconciler/compare';
import type { WorkflowSender } from '../../temporal/client';
import { approvalWorkflowId } from '../../temporal/ids';
import { findWorkflow } from '../../temporal/runs';
import { describeReconciler } from '../../temporal/schedule';
import { count, duration } from '../text';
import { type Finding, fail, ok, warn } from './finding';

const SHOWN_IDS = 5;
/** Suspects that are asked after one by one; each costs a call. */
const MAX_ASKED = 100;
const AT_ONCE = 10;
const DEADLINE_MS = 4_000;
/** So many turns may be missed before something is wrong. */
const TURNS = 3;
/** A pass may take its time when it has much to start. */
const LONG_PASS_MS = 60_000;

/** Open records whose workflow does not run, found as the reconciler finds them. */
export async function lookAtWorkflows(
  db: Db,
  sender: WorkflowSender,
  config: Pick<Config, 'networks'>,
): Promise<Finding[]> {
  const networkIds = config.networks.map(({ id }) => id);
  const { open, suspects } = await compare({ db, sender, networkIds });
  const asked = suspects.slice(0, MAX_ASKED);
  const gone: string[] = [];
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const founds = await Promise.all(
      asked
        .slice(start, start + AT_ONCE)
        .map(async (record) => ({ record, found: await findWorkflow(sender, approvalWorkflowId(record)) })),
    );
    gone.push(...founds.flatMap(({ record, found }) => (found.status === 'running' ? [] : [record.id])));
  }
  if (gone.length === 0)
    return [ok('workflows', `${count(open, 'open record has', 'open records have')} one`)];
  const atLeast = suspects.length > asked.length ? 'at least ' : '';
  const shown = gone.slice(0, SHOWN_IDS).join(', ');
  return [
    warn(
      'workflows',
      `${atLeast}${count(gone.length, 'open record has', 'open records have')} no running workflow: ${shown}${gone.length > SHOWN_IDS ? ', …' : ''}`,
      'nothing: the reconciler starts it again (or closes what an operator has ended) within a minute. If it stays, see the reconciler and the worker',
    ),
  ];
}

/** The schedule that keeps records and workflows together. */
export async function lookAtReconciler(
  sender: WorkflowSender,
  { reconcileEveryMs }: Pick<Config, 'reconcileEveryMs'>,
  nowMs = Date.now(),
): Promise<Finding[]> {
  const part = 'reconciler';
  const { client, queues } = sender;
  const described = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
    describeReconciler({ client, queues }),
  );
  if (!described) {
    return [fail(part, 'it has no schedule in Temporal', 'start a process whose ORGWALLET_ROLES has worker')];
  }
  const { state, info, scheduleId } = described;
  if (state.paused) {
    return [
      warn(
        part,
        `its schedule ${scheduleId} is paused${state.note ? ` (${state.note})` : ''}`,
        'unpause it in the Temporal UI under Schedules: what is lost stays lost until then',
      ),
    ];
  }
  const lastMs = info.recentActions.at(-1)?.takenAt.getTime();
  const last = lastMs === undefined ? 'no pass yet' : `last pass ${duration(nowMs - lastMs)} ago`;
  const text = `every ${duration(reconcileEveryMs)}, ${last}`;
  const sinceMs = nowMs - (lastMs ?? info.createdAt.getTime());
  // While a pass runs, those that would follow it are left out.
  const limitMs = TURNS * reconcileEveryMs + LONG_PASS_MS;
  return [
    sinceMs > limitMs
      ? warn(part, text, `look at ${scheduleId} in the Temporal UI under Schedules, and at the worker`)
      : ok(part, text),
  ];
}
