import type { Config } from '../config';
import type { Logger } from '../logging';
import type { WorkflowSender } from './client';
import { isNotFound, RECONCILER_IDENTITY, runningQuery } from './runs';

// Worker Versioning: a workflow stays with the build that began its history, until it continues as new on the current one.

/** A build of the service, as Temporal knows it: a version of a worker deployment. */
export type Build = NonNullable<Config['temporal']['build']>;

/**
 * The first server with which a workflow can continue as new on another build, and with which a worker can end without a task
 * that it was just given.
 */
const OLDEST_SERVER = [1, 31] as const;
/** temporal.api.enums.v1.TaskQueueType */
const WORKFLOW_QUEUE = 1;
/** A worker polls at least once a minute; Temporal lists it for five minutes after its last poll. */
const POLLER_ALIVE_MS = 90_000;
const MAX_LISTED = 1_000;

/** The Temporal server cannot move workflows to another build. */
export class ServerTooOld extends Error {
  override readonly name = 'ServerTooOld';
}

/** The value of the search attribute TemporalWorkerDeploymentVersion. */
function versionText({ deploymentName, buildId }: Build): string {
  return `${deploymentName}:${buildId}`;
}

/** Throws ServerTooOld where a workflow cannot continue as new on another build: older servers keep it on its own. */
export async function assertMovesWorkflows({ client, deadlineMs }: WorkflowSender): Promise<void> {
  const { serverVersion } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.getSystemInfo({}),
  );
  const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new ServerTooOld(
    `TEMPORAL_BUILD_ID: Temporal ${serverVersion} cannot move workflows to another build (expected ${OLDEST_SERVER.join('.')} or newer)`,
  );
}

interface WorkerDeployment {
  /** The build on which workflows begin; undefined when there is none. */
  readonly current: string | undefined;
  /** The builds whose workers have polled, and those of them that are or were the current one. */
  readonly known: ReadonlySet<string>;
  readonly activated: ReadonlySet<string>;
}

/** The builds of the worker deployment. Throws before the first worker has polled. */
async function describeWorkerDeployment(
  { client, deadlineMs }: WorkflowSender,
  { deploymentName }: Build,
): Promise<WorkerDeployment> {
  const { namespace } = client.options;
  const { workerDeploymentInfo: info } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
  );
  const current = info?.routingConfig?.currentDeploymentVersion?.buildId ?? undefined;
  const versions = (info?.versionSummaries ?? []).map(({ deploymentVersion, firstActivationTime }) => ({
    buildId: deploymentVersion?.buildId ?? '',
    wasActivated: Boolean(firstActivationTime),
  }));
  const activated = versions.filter(({ wasActivated }) => wasActivated).map(({ buildId }) => buildId);
  return {
    current,
    known: new Set(versions.map(({ buildId }) => buildId)),
    activated: new Set(current === undefined ? activated : [...activated, current]),
  };
}

/** Workflows begin on a build that has no worker. */
export class CurrentBuildStopped extends Error {
  override readonly name = 'CurrentBuildStopped';
}

/**
 * Makes a new build the current one: workflows begin on it from now on. One that was current before is left as it is: a worker
 * that is started again during an upgrade, or after it was taken back, changes nothing. Throws until a worker of it polls;
 * CurrentBuildStopped where workflows begin on another build, of which no worker polls.
 */
export async function promoteNewBuild(sender: WorkflowSender, build: Build, logger: Logger): Promise<void> {
  const { current, known, activated } = await describeWorkerDeployment(sender, build);
  if (!activated.has(build.buildId)) {
    if (!known.has(build.buildId)) throw new Error(`no worker of build ${build.buildId} polls yet`);
    return makeCurrent(sender, build, logger);
  }
  if (current === undefined || current === build.buildId) return;
  if ((await polledBuilds(sender, build)).has(current)) return;
  throw new CurrentBuildStopped(
    `the current build ${current} has no running worker: start one, or run temporal worker deployment set-current-version --deployment-name ${build.deploymentName} --build-id ${build.buildId}`,
  );
}

async function makeCurrent(
  { client, deadlineMs }: WorkflowSender,
  build: Build,
  logger: Logger,
): Promise<void> {
  await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: client.options.namespace,
      ...build,
      identity: client.options.identity,
    }),
  );
  logger.info({ build }, 'this build is the current one now: workflows begin on it');
}

/** Ids of workflows that run, by Temporal's list: of those that meet a condition, the first thousand. */
async function listRunningWhere(
  sender: WorkflowSender,
  condition: string,
): Promise<{ workflowId: string; runId: string }[]> {
  const { client, deadlineMs } = sender;
  const { executions } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query: runningQuery(sender, [condition]),
      pageSize: MAX_LISTED,
    }),
  );
  return (executions ?? []).map(({ execution }) => ({
    workflowId: execution?.workflowId ?? '',
    runId: execution?.runId ?? '',
  }));
}

/**
 * The workflows of a build that are to move to the current one, at most a thousand of them: none while it is the current
 * one, because other processes go on with it.
 */
export async function listWorkflowsToMove(sender: WorkflowSender, build: Build): Promise<string[]> {
  const { current } = await describeWorkerDeployment(sender, build);
  if (current === undefined || current === build.buildId) return [];
  const found = await listRunningWhere(sender, `TemporalWorkerDeploymentVersion = '${versionText(build)}'`);
  return found.map(({ workflowId }) => workflowId);
}

/** The builds of a deployment whose workers poll. */
async function polledBuilds(
  { client, queues, deadlineMs }: WorkflowSender,
  { deploymentName }: Build,
): Promise<Set<string>> {
  const { namespace } = client.options;
  const { pollers } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queues.workflows },
      taskQueueType: WORKFLOW_QUEUE,
    }),
  );
  const alive = (pollers ?? []).filter(
    ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 < POLLER_ALIVE_MS,
  );
  return new Set(
    alive.flatMap(({ deploymentOptions: polling }) =>
      polling?.deploymentName === deploymentName ? [polling.buildId ?? ''] : [],
    ),
  );
}

/** The build on which workflows begin, where there is one, and those whose workers poll. */
export async function readBuilds(
  sender: WorkflowSender,
  build: Build,
): Promise<{ readonly current: string | undefined; readonly polled: readonly string[] }> {
  const { current } = await describeWorkerDeployment(sender, build);
  return { current, polled: [...(await polledBuilds(sender, build))].sort() };
}

/**
 * Ends the workflows whose build has no worker any more: its processes were removed before their workflows had left. The
 * reconciler restarts what it finds ended, on the current build, from the record.
 */
export async function endAbandoned(
  { sender, build, logger }: { sender: WorkflowSender; build: Build | undefined; logger: Logger },
  onStep: () => void,
): Promise<void> {
  if (!build) return;
  const polled = await polledBuilds(sender, build);
  // This process polls, or is about to end.
  if (!polled.has(build.buildId)) return;
  const versions = [...polled].map((buildId) => `'${versionText({ ...build, buildId })}'`).join(', ');
  const { client, deadlineMs } = sender;
  const abandoned = await listRunningWhere(
    sender,
    `TemporalWorkerDeployment = '${build.deploymentName}' AND TemporalWorkerDeploymentVersion NOT IN (${versions})`,
  );
  for (const workflowExecution of abandoned) {
    onStep();
    await client
      .withDeadline(Date.now() + deadlineMs, () =>
        client.workflowService.terminateWorkflowExecution({
          namespace: client.options.namespace,
          workflowExecution,
          identity: RECONCILER_IDENTITY,
          reason: 'its build has no running worker',
        }),
      )
      .catch((error) => {
        // It has ended meanwhile.
        if (!isNotFound(error)) throw error;
      });
  }
  if (abandoned.length > 0) {
    const count = abandoned.length;
    logger.warn(
      { count },
      'terminated workflows whose build has no running worker: the reconciler restarts them',
    );
  }
}
