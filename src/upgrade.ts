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
const HAND_OVER_PAUSE_MS = 500;
const AT_ONCE = 16;
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

  const keeping = keepPromoted();
  return {
    assertPromoted() {
      if (!isPromoted) throw new Error(`build ${buildId} has not become the current one yet`);
    },
    async handOver() {
      const until = performance.now() + HAND_OVER_MS;
      for (let problem: unknown; performance.now() < until; await sleep(HAND_OVER_PAUSE_MS)) {
        try {
          const leaving = await listLeaving(sender, build);
          if (leaving.length === 0) return;
          // Each message makes a workflow look whether its build is the current one.
          await mapLimit(AT_ONCE, leaving, (workflowId) => refreshWorkflow(sender, workflowId));
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
