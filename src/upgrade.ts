import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './logging';
import { mapLimit } from './mapLimit';
import { refreshWorkflow } from './temporal/approvalMessages';
import {
  assertMovesWorkflows,
  type Build,
  CurrentBuildStopped,
  listWorkflowsToMove,
  promoteNewBuild,
  ServerTooOld,
} from './temporal/builds';
import type { WorkflowSender } from './temporal/client';

const RETRY_MS = 500;
/** A Temporal that comes back without its data does not know the build any more. */
const PROMOTION_CHECK_MS = 20_000;
/** How long a worker of an earlier build goes on until its workflows have moved. */
const MOVE_TIMEOUT_MS = 30_000;
const MOVE_POLL_MS = 250;
/** More are not moving at the same time: what the others do goes on meanwhile. */
const MAX_MOVING = 8;
/** One that has not moved by then gets the message again. */
const REFRESH_AGAIN_MS = 5_000;

/** The build of this process, among those that run beside each other. */
export interface Upgrade {
  /** Throws until workflows can begin on this build, or could once, and while they begin on one that has no worker. */
  assertPromoted(): void;
  /** Has the workflows of this build continue on the current one, when that is another. At most 30 s. */
  moveWorkflows(): Promise<void>;
  stop(): Promise<void>;
}

/** Refreshes some of those that stay, unless many that were refreshed have not moved yet. */
async function refreshSome(
  sender: WorkflowSender,
  staying: readonly string[],
  refreshedAt: Map<string, number>,
): Promise<void> {
  const since = performance.now() - REFRESH_AGAIN_MS;
  const isMoving = (workflowId: string) => (refreshedAt.get(workflowId) ?? Number.NEGATIVE_INFINITY) > since;
  const free = MAX_MOVING - staying.filter(isMoving).length;
  const next = staying.filter((workflowId) => !isMoving(workflowId)).slice(0, Math.max(0, free));
  for (const workflowId of next) refreshedAt.set(workflowId, performance.now());
  // The message makes a workflow look whether its build is the current one.
  await mapLimit(MAX_MOVING, next, (workflowId) => refreshWorkflow(sender, workflowId));
}

/** Has the workflows of a build continue on the current one, when that is another. At most 30 s. */
async function moveWorkflows(sender: WorkflowSender, build: Build, logger: Logger): Promise<void> {
  const { buildId } = build;
  const until = performance.now() + MOVE_TIMEOUT_MS;
  const refreshedAt = new Map<string, number>();
  let hasWarned = false;
  while (performance.now() < until) {
    try {
      const staying = await listWorkflowsToMove(sender, build);
      if (staying.length === 0) return;
      await refreshSome(sender, staying, refreshedAt);
    } catch (error) {
      if (!hasWarned) logger.warn({ err: error, buildId }, 'workflows cannot be moved yet; retrying');
      hasWarned = true;
    }
    await sleep(MOVE_POLL_MS);
  }
  logger.warn(
    { buildId },
    'workflows remain on this build: the reconciler restarts them if it has no running worker',
  );
}

/** Makes a new build the current one, as soon as its worker polls. `fail` ends the process: the server is too old. */
export function startUpgrade(
  sender: WorkflowSender,
  build: Build,
  { logger, fail }: { readonly logger: Logger; readonly fail: (error: Error) => void },
): Upgrade {
  const { buildId } = build;
  const stopped = new AbortController();
  const pause = (ms: number) =>
    sleep(ms, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
  let problem: Error | undefined = new Error(`build ${buildId} has not become the current one yet`);
  let isServerKnown = false;

  /** Records why this build is not ready; one that stays is logged once. */
  function note(error: unknown): void {
    if (!(error instanceof CurrentBuildStopped)) {
      logger.debug({ err: error, buildId }, 'this build cannot be made the current one yet; retrying');
      return;
    }
    if (problem?.message !== error.message) logger.error({ buildId }, error.message);
    problem = error;
  }

  async function keepPromoted(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        if (!isServerKnown) await assertMovesWorkflows(sender);
        isServerKnown = true;
        await promoteNewBuild(sender, build, logger);
        problem = undefined;
        await pause(PROMOTION_CHECK_MS);
      } catch (error) {
        if (error instanceof ServerTooOld) return fail(error);
        note(error);
        await pause(RETRY_MS);
      }
    }
  }

  const keeping = keepPromoted();
  return {
    assertPromoted() {
      if (problem) throw problem;
    },
    moveWorkflows: () => moveWorkflows(sender, build, logger),
    async stop() {
      stopped.abort();
      await keeping;
    },
  };
}
