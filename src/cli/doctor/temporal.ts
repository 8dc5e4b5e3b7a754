import { isGrpcServiceError } from '@temporalio/client';
import type { Config } from '../../config';
import type { WorkflowSender } from '../../temporal/client';
import { count, duration } from '../text';
import { type Finding, fail, ok } from './finding';

const DEADLINE_MS = 4_000;
/** A worker polls at least once a minute; Temporal lists it for five minutes after its last poll. */
const POLLER_ALIVE_MS = 90_000;
/** temporal.api.enums.v1.TaskQueueType */
const WORKFLOW_QUEUE = 1;
const ACTIVITY_QUEUE = 2;

interface Poller {
  readonly lastAccessTime?: {
    readonly seconds?: { toString(): string } | null;
    readonly nanos?: number | null;
  } | null;
}

/** How many pollers of a queue are alive, and the age of the newest poll. */
export function pollersAlive(pollers: readonly Poller[], nowMs: number): { alive: number; newestMs: number } {
  const ages = pollers
    .map(({ lastAccessTime }) => nowMs - Number(lastAccessTime?.seconds?.toString() ?? 0) * 1_000)
    .filter((ageMs) => ageMs < POLLER_ALIVE_MS);
  return { alive: ages.length, newestMs: Math.max(0, Math.min(...ages, POLLER_ALIVE_MS)) };
}

/** Temporal, its namespace, and who polls each task queue. */
export async function checkTemporal(
  { client, queues }: WorkflowSender,
  temporal: Config['temporal'],
): Promise<Finding[]> {
  const { namespace, address } = temporal;
  const { workflowService } = client;
  const answered = client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const { serverVersion } = await workflowService.getSystemInfo({});
    const server = ok(
      'temporal',
      `server ${serverVersion || 'of unknown version'} at ${address}, namespace ${namespace}`,
    );
    const parts = [
      ['worker', 'worker', queues.workflows, WORKFLOW_QUEUE],
      ['chain worker', 'chain', queues.chain, ACTIVITY_QUEUE],
      ['signer', 'signer', queues.signer, ACTIVITY_QUEUE],
    ] as const;
    const workers = await Promise.all(
      parts.map(async ([part, role, queue, taskQueueType]) => {
        const { pollers } = await workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: queue },
          taskQueueType,
        });
        const { alive, newestMs } = pollersAlive(pollers ?? [], Date.now());
        return alive > 0
          ? ok(
              part,
              `${count(alive, 'process polls', 'processes poll')} ${queue}, last ${duration(newestMs)} ago`,
            )
          : fail(
              part,
              `no process polls ${queue}`,
              `start a process whose ORGWALLET_ROLES has ${role}; check its log`,
            );
      }),
    );
    return [server, ...workers];
  });
  return answered.catch((error) => {
    throw isGrpcServiceError(error) ? new Error(`no answer from ${address}: ${error.details}`) : error;
  });
}
