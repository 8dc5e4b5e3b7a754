import { ApplicationFailure, CompleteAsyncError, type Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { DatabaseFailure, withoutSql } from './db/databaseFailure';
import type { Logger } from './logging';
import type { Observed } from './temporal/waitingActivities';

/** What an activity is about, for its line in the log. */
function aboutOf(info: Info, [first]: readonly unknown[]): Record<string, unknown> {
  const about = (first ?? {}) as { [key: string]: unknown };
  const { organizationId, id, proposalId, transactionId, accountId, networkId, requestId } = about;
  return {
    activity: info.activityType,
    organizationId,
    approvalId: id ?? proposalId ?? transactionId,
    accountId,
    networkId,
    requestId,
    workflowId: info.workflowExecution?.workflowId,
    runId: info.workflowExecution?.runId,
    attempt: info.attempt,
  };
}

/**
 * Logs each finished activity: its subject, its outcome and its workflow. Its error is stored in the workflow's history,
 * where everybody with access to Temporal reads it: a database error goes there without SQL and values.
 */
export function observeActivities(logger: Logger): Observed {
  return async (info, args, run) => {
    const begunAt = performance.now();
    const fields = () => ({ ...aboutOf(info, args), ms: Math.round(performance.now() - begunAt) });
    try {
      const result = await run();
      const refusal = (result as { refusal?: { code: string } } | null)?.refusal?.code;
      logger.info({ ...fields(), ...(refusal ? { refusal } : {}) }, 'activity');
      return result;
    } catch (thrown) {
      // It goes on without its slot, and is logged when it ends.
      if (thrown instanceof CompleteAsyncError) throw thrown;
      const error = withoutSql(thrown);
      logger.warn({ ...fields(), err: error }, 'activity failed; Temporal retries it');
      throw error instanceof DatabaseFailure
        ? ApplicationFailure.create({ type: error.name, message: error.message })
        : error;
    }
  };
}

/** Observes the activities of a worker. */
export function activityInterceptor(observed: Observed): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: { execute: (input, next) => observed(info, input.args, () => next(input)) },
  });
}
