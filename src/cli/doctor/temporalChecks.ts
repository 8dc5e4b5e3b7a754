import type { Client } from '@temporalio/client';
import type { Config, Role } from '../../config';
import { createTemporalAccess } from '../../temporal/access';
import { type Build, readBuilds } from '../../temporal/builds';
import type { WorkflowSender } from '../../temporal/client';
import { networkQueue } from '../../temporal/ids';
import { missingSearchAttributes, searchAttributesText } from '../../temporal/registeredAttributes';
import type { SearchAttribute } from '../../temporal/searchAttributes';
import { count, duration } from '../text';
import { type Finding, fail, ok, PATIENCE_MS } from './finding';

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
  nowMs: () => number,
): Promise<Finding> {
  const polled = await Promise.all(
    queues.map(async (queue) => {
      const taskQueue = { name: queue };
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue,
        taskQueueType,
      });
      return { queue, ...pollersAlive(pollers ?? [], nowMs()) };
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

type TemporalSettings = Pick<Config, 'temporal' | 'networks'>;

/** The server of Temporal, and its namespace. Throws where it does not answer, or refuses. */
export async function checkTemporal(
  { client }: WorkflowSender,
  { temporal }: TemporalSettings,
): Promise<Finding[]> {
  const { namespace, address } = temporal;
  await createTemporalAccess(client.connection, temporal, PATIENCE_MS).assert();
  const { serverVersion } = await client.withDeadline(Date.now() + PATIENCE_MS, () =>
    client.workflowService.getSystemInfo({}),
  );
  return [
    ok('temporal', `server ${serverVersion || 'of unknown version'} at ${address}, namespace ${namespace}`),
  ];
}

/** The search attributes, the builds, and who polls each task queue. `nowMs`: by the database's clock, where it is known. */
export async function checkQueues(
  sender: WorkflowSender,
  { temporal, networks }: TemporalSettings,
  nowMs: () => number,
): Promise<Finding[]> {
  const { namespace, build } = temporal;
  const { client } = sender;
  return client.withDeadline(Date.now() + PATIENCE_MS, async () => {
    const found = await Promise.all([
      missingSearchAttributes(client, namespace).then((missing) =>
        missing.length > 0 ? [lacking(missing)] : [],
      ),
      build ? checkBuilds(sender, build).then((finding) => [finding]) : [],
      ...polledQueues(sender, networks).map(async (part) => [
        await checkPolled(client, namespace, part, nowMs),
      ]),
    ]);
    return found.flat();
  });
}
