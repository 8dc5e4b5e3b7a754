import { ApplicationFailure, CompleteAsyncError, type Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { DatabaseFailure, withoutSql } from './db/databaseFailure';
import type { Logger } from './logging';
import { traceparentIn } from './temporal/traceHeader';
import type { RunObserved } from './temporal/waitingActivities';
import { type Attributes, currentSpan, type Tracer, withSpan } from './tracing';

const LONGEST_ID = 100;

/** An id, or a number; undefined for anything else: whoever reaches a task queue writes its messages. */
function idIn(value: unknown): string | number | undefined {
  const isId = typeof value === 'number' || (typeof value === 'string' && value.length <= LONGEST_ID);
  return isId ? value : undefined;
}

/** What an activity is about, for its line in the log. */
function aboutOf(info: Info, [first]: readonly unknown[]): Record<string, unknown> {
  const about = Object(first) as { readonly [key: string]: unknown };
  const [organizationId, accountId, networkId, requestId] = [
    about.organizationId,
    about.accountId,
    about.networkId,
    about.requestId,
  ].map(idIn);
  const { id, proposalId, transactionId } = about;
  return {
    activity: info.activityType,
    organizationId,
    approvalId: idIn(id ?? proposalId ?? transactionId),
    accountId,
    networkId,
    requestId,
    workflowId: info.workflowExecution?.workflowId,
    runId: info.workflowExecution?.runId,
    attempt: info.attempt,
  };
}

/** What an activity is about, for its span. */
function attributesOf({ taskQueue, workflowExecution, attempt, isLocal }: Info): Attributes {
  return {
    'temporal.workflow_id': workflowExecution?.workflowId,
    'temporal.run_id': workflowExecution?.runId,
    'temporal.task_queue': taskQueue,
    'temporal.local': String(isLocal),
    'temporal.attempt': attempt,
  };
}

/**
 * Logs each finished activity with its subject, outcome and workflow, and ends its span. Its error is stored in the
 * workflow's history, where everybody with access to Temporal reads it: a database error goes there without SQL and values.
 */
export function observeActivities(logger: Logger): RunObserved {
  return async (info, args, run) => {
    const startedAt = performance.now();
    const fields = () => ({ ...aboutOf(info, args), ms: Math.round(performance.now() - startedAt) });
    try {
      const result = await run();
      const refusal = (result as { refusal?: { code: string } } | null)?.refusal?.code;
      logger.info({ ...fields(), ...(refusal ? { refusal } : {}) }, 'activity');
      currentSpan()?.set({ 'orgwallet.refusal': refusal });
      currentSpan()?.end();
      return result;
    } catch (thrown) {
      // It goes on without its slot, and is logged when it ends.
      if (thrown instanceof CompleteAsyncError) throw thrown;
      const error = withoutSql(thrown);
      logger.warn({ ...fields(), err: error }, 'activity failed; Temporal retries it');
      currentSpan()?.end(error);
      throw error instanceof DatabaseFailure
        ? ApplicationFailure.create({ type: error.name, message: error.message })
        : error;
    }
  };
}

/** Observes the activities of a worker; those that belong to a trace have a span in it. */
export function activityInterceptor(observed: RunObserved, tracer?: Tracer): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute(input, next) {
        const parent = traceparentIn(input.headers);
        const span = parent
          ? tracer?.begin(info.activityType, { parent, attributes: attributesOf(info) })
          : undefined;
        return withSpan(span, () => observed(info, input.args, () => next(input)));
      },
    },
  });
}
