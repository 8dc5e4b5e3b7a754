import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './logging';
import { mapLimit } from './mapLimit';
import { refreshWorkflow } from './temporal/approvals';
import { type Build, canMoveWorkflows, listLeaving, promoteNewBuild } from './temporal/builds';
import type { WorkflowSender } from './temporal/client';

const RETRY_MS = 500;
/** A Temporal that comes back without its data does not know the build any more. */
const LOOK_MS = 20_000;
/** How long a worker of an earlier build goes on until its workflows have left. */
const HAND_OVER_MS = 30_000;
const HAND_OVER_PAUSE_MS = 100;
/** Workflows that leave at the same time: what the others do goes on meanwhile. */
const AT_ONCE = 8;
/** One that has not left by then is asked again. */
const ASK_AGAIN_MS = 5_000;
const TOO_OLD =
  'TEMPORAL_BUILD_ID: this Temporal server cannot move workflows to another build (expected 1.31 or newer)';

/** The build of this process, among those that run beside each other. */
export interface Upgrade {
  /** Throws until workflows can begin on this build, or could once. */
  assertPromoted(): void;
  /** Has the workflows of this build continue on the current one, when that is another. At most 30 s. */
  handOver(): Promise<void>;
  stop(): Promise<void>;
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
  let isPromoted = false;

  async function keepPromoted(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        if (!isPromoted && !(await canMoveWorkflows(sender))) return fail(new Error(TOO_OLD));
        await promoteNewBuild(sender, build, logger);
        isPromoted = true;
        await pause(LOOK_MS);
      } catch (error) {
        logger.debug({ err: error, buildId }, 'this build cannot be made the current one yet; retrying');
        await pause(RETRY_MS);
      }
    }
  }

  /** Asks some to leave, as long as few of those that were asked are still there. */
  async function askToLeave(leaving: readonly string[], askedAt: Map<string, number>): Promise<void> {
    const since = performance.now() - ASK_AGAIN_MS;
    const isAsked = (workflowId: string) => (askedAt.get(workflowId) ?? Number.NEGATIVE_INFINITY) > since;
    const free = AT_ONCE - leaving.filter(isAsked).length;
    const next = leaving.filter((workflowId) => !isAsked(workflowId)).slice(0, Math.max(0, free));
    for (const workflowId of next) askedAt.set(workflowId, performance.now());
    // The message makes a workflow look whether its build is the current one.
    await mapLimit(AT_ONCE, next, (workflowId) => refreshWorkflow(sender, workflowId));
  }

  const keeping = keepPromoted();
  return {
    assertPromoted() {
      if (!isPromoted) throw new Error(`build ${buildId} has not become the current one yet`);
    },
    async handOver() {
      const until = performance.now() + HAND_OVER_MS;
      const askedAt = new Map<string, number>();
      for (let problem: unknown; performance.now() < until; await sleep(HAND_OVER_PAUSE_MS)) {
        try {
          const leaving = await listLeaving(sender, build);
          if (leaving.length === 0) return;
          await askToLeave(leaving, askedAt);
        } catch (error) {
          if (problem === undefined)
            logger.warn({ err: error, buildId }, 'workflows cannot leave this build yet; retrying');
          problem = error;
        }
      }
      logger.warn(
        { buildId },
        'not all workflows have left this build: without a worker of it they are restarted',
      );
    },
    async stop() {
      stopped.abort();
      await keeping;
    },
  };
}
