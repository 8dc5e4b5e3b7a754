import type { Config } from '../../config';
import {
  type LastSeen,
  PART_OF_ROLE,
  POLLING_ROLES,
  type PollingRole,
  seenRole,
} from '../../domain/lastSeen';
import { createTemporalAccess } from '../../temporal/access';
import { type Build, readBuilds } from '../../temporal/builds';
import type { WorkflowSender } from '../../temporal/client';
import { polledQueues } from '../../temporal/polledQueues';
import { missingSearchAttributes, searchAttributesText } from '../../temporal/registeredAttributes';
import type { SearchAttribute } from '../../temporal/searchAttributes';
import { duration } from '../text';
import { type Finding, fail, ok, PATIENCE_MS, warn } from './finding';
import { roleFinding, startText } from './roleChecks';

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

/** What to do about a process that runs, and that Temporal does not hear of. */
const BUSY =
  'where its slots are all in use it goes on by itself; else it is cut off from Temporal: look at its load and its log';

/** Since when Temporal has seen nobody who polls these queues of a role; undefined where it has seen somebody. */
async function unpolledFinding(
  { client, queues: { workflows } }: WorkflowSender,
  role: PollingRole,
  queues: readonly string[],
  nowMs: () => number,
): Promise<Finding | undefined> {
  const { namespace } = client.options;
  const polled = await Promise.all(
    queues.map(async (name) => {
      const taskQueue = { name };
      const { pollers } = await client.workflowService.describeTaskQueue({
        namespace,
        taskQueue,
        taskQueueType: name === workflows ? WORKFLOW_QUEUE : ACTIVITY_QUEUE,
      });
      return { name, ...pollersAlive(pollers ?? [], nowMs()) };
    }),
  );
  const idle = polled.filter(({ alive }) => alive === 0).map(({ name }) => name);
  if (idle.length === 0) return undefined;
  return fail(
    PART_OF_ROLE[role],
    `Temporal has seen no process poll ${idle.join(', ')} for ${duration(POLLER_ALIVE_MS)}`,
    startText(role),
  );
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

/**
 * The search attributes, the builds, and who polls each task queue. `nowMs`: by the database's clock; without the database,
 * `seen` is undefined, and Temporal alone is asked, which notices after 90 s.
 */
export async function checkQueues(
  sender: WorkflowSender,
  { temporal, networks }: TemporalSettings,
  { seen, nowMs }: { readonly seen: LastSeen | undefined; readonly nowMs: () => number },
): Promise<Finding[]> {
  const { namespace, build } = temporal;
  const { client, queues } = sender;
  const polled = polledQueues(
    queues,
    networks.map(({ id }) => id),
  );
  const checkRole = async (role: PollingRole): Promise<Finding> => {
    const said = seen && roleFinding(seenRole(role, polled[role], seen), seen.at);
    if (said?.status === 'fail') return said;
    const unpolled = await unpolledFinding(sender, role, polled[role], nowMs);
    // A worker whose slots are all in use does not poll either.
    if (said && unpolled) return warn(unpolled.part, `${unpolled.found}, and one says that it does`, BUSY);
    return unpolled ?? said ?? ok(PART_OF_ROLE[role], `polls ${polled[role].join(', ')}`);
  };
  return client.withDeadline(Date.now() + PATIENCE_MS, async () => {
    const found = await Promise.all([
      missingSearchAttributes(client, namespace).then((missing) =>
        missing.length > 0 ? [lacking(missing)] : [],
      ),
      build ? checkBuilds(sender, build).then((finding) => [finding]) : [],
      ...POLLING_ROLES.map(async (role) => [await checkRole(role)]),
    ]);
    return found.flat();
  });
}
