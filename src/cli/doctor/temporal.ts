import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Config, Role } from '../../config';
import { type Build, readBuilds } from '../../temporal/builds';
import type { WorkflowSender } from '../../temporal/client';
import { missingSearchAttributes, searchAttributesText } from '../../temporal/connection';
import { networkQueue } from '../../temporal/ids';
import type { SearchAttribute } from '../../temporal/searchAttributes';
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

/** The queues that the processes of a role poll. */
interface Polled {
  readonly part: string;
  readonly role: Role;
  readonly queues: readonly string[];
  readonly taskQueueType: number;
}

function polledQueues({ queues }: WorkflowSender, networks: Config['networks']): Polled[] {
  const each = (queue: string) => networks.map(({ id }) => networkQueue(queue, id));
  const activities = { taskQueueType: ACTIVITY_QUEUE };
  return [
    { part: 'worker', role: 'worker', queues: [queues.workflows], taskQueueType: WORKFLOW_QUEUE },
    { part: 'chain worker', role: 'chain', queues: each(queues.chain), ...activities },
    { part: 'signer', role: 'signer', queues: [queues.signer, ...each(queues.signer)], ...activities },
  ];
}

async function checkPolled(
  client: Client,
  namespace: string,
  { part, role, queues, taskQueueType }: Polled,
): Promise<Finding> {
  const polled = await Promise.all(
    queues.map(async (queue) => {
      const taskQueue = { name: queue };
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue,
        taskQueueType,
      });
      return { queue, ...pollersAlive(pollers ?? [], Date.now()) };
    }),
  );
  const idle = polled.filter(({ alive }) => alive === 0).map(({ queue }) => queue);
  if (idle.length > 0) {
    const todo = `start a process whose ORGWALLET_ROLES has ${role}, with every network; check its log`;
    return fail(part, `no process polls ${idle.join(', ')}`, todo);
  }
  const fewest = Math.min(...polled.map(({ alive }) => alive));
  const oldest = Math.max(...polled.map(({ newestMs }) => newestMs));
  const polls = count(fewest, 'process polls', 'processes poll');
  return ok(part, `${polls} ${queues.join(', ')}, last ${duration(oldest)} ago`);
}

function lacking(keys: readonly SearchAttribute[]): Finding {
  const todo = 'start a process whose ORGWALLET_ROLES has worker; on Temporal Cloud, create them yourself';
  return fail('temporal', `search attributes are missing: ${searchAttributesText(keys)}`, todo);
}

/** On which build workflows begin, and which builds run. */
export async function checkBuilds(sender: WorkflowSender, build: Build): Promise<Finding> {
  const { current, polled } = await readBuilds(sender, build);
  const running = polled.length === 0 ? 'no build runs' : `running: ${polled.join(', ')}`;
  const { deploymentName } = build;
  if (current === undefined) {
    const todo =
      'start a process whose ORGWALLET_ROLES has worker: the first of a build makes it the current one';
    return fail('builds', `${deploymentName} has no current build (${running})`, todo);
  }
  if (polled.includes(current))
    return ok('builds', `workflows of ${deploymentName} begin on ${current}; ${running}`);
  const todo = `start a worker of ${current}, or make another build the current one: temporal worker deployment set-current-version`;
  return fail(
    'builds',
    `workflows of ${deploymentName} begin on ${current}, which has no worker; ${running}`,
    todo,
  );
}

/** Temporal, its namespace, and who polls each task queue. */
export async function checkTemporal(
  sender: WorkflowSender,
  { temporal, networks }: Pick<Config, 'temporal' | 'networks'>,
): Promise<Finding[]> {
  const { namespace, address } = temporal;
  const { client } = sender;
  const answered = client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const { serverVersion } = await client.workflowService.getSystemInfo({});
    const server = ok(
      'temporal',
      `server ${serverVersion || 'of unknown version'} at ${address}, namespace ${namespace}`,
    );
    const missing = await missingSearchAttributes(client, namespace);
    const attributes = missing.length > 0 ? [lacking(missing)] : [];
    const polled = polledQueues(sender, networks);
    return [
      server,
      ...attributes,
      ...(temporal.build ? [await checkBuilds(sender, temporal.build)] : []),
      ...(await Promise.all(polled.map((part) => checkPolled(client, namespace, part)))),
    ];
  });
  return answered.catch((error) => {
    throw isGrpcServiceError(error) ? new Error(`no answer from ${address}: ${error.details}`) : error;
  });
}
