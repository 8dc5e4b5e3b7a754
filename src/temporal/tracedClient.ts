import type { WorkflowClientInterceptor } from '@temporalio/client';
import { currentSpan, type Span, type Tracer } from '../tracing';
import { type TracingSinks, withTraceparent } from './traceHeader';

type Sink<F> = {
  readonly fn: (info: unknown, ...args: F extends (...args: infer A) => void ? A : never) => void;
};

/** What records the spans of workflows; a replay reports none. */
export function tracingSinks(tracer: Tracer | undefined): {
  tracing: { record: Sink<TracingSinks['tracing']['record']> };
} {
  return { tracing: { record: { fn: (_info, span) => tracer?.record(span) } } };
}

/** Sends a message within a span. What belongs to no trace is sent as it is. */
async function send<Output>(
  name: string,
  workflowId: string,
  message: (span: Span | undefined) => Promise<Output>,
): Promise<Output> {
  const attributes = { 'temporal.workflow_id': workflowId };
  const span = currentSpan()?.begin(name, { kind: 'client', attributes });
  try {
    const output = await message(span);
    span?.end();
    return output;
  } catch (error) {
    span?.end(error);
    throw error;
  }
}

/**
 * Passes the trace on with what the API sends. Whoever looks at a workflow in Temporal finds the trace that it was created
 * in: `traceId` in its memo.
 */
export function tracedClient(): WorkflowClientInterceptor {
  return {
    startUpdate: (input, next) =>
      send(`update ${input.updateName}`, input.workflowExecution.workflowId, (span) =>
        next(span ? { ...input, headers: withTraceparent(input.headers, span.traceparent) } : input),
      ),
    startUpdateWithStart: (input, next) => {
      const { workflowStartOptions: options, workflowStartHeaders, updateHeaders } = input;
      return send(`start ${input.workflowType}`, options.workflowId, (span) =>
        next(
          span
            ? {
                ...input,
                workflowStartOptions: { ...options, memo: { ...options.memo, traceId: span.traceId } },
                workflowStartHeaders: withTraceparent(workflowStartHeaders, span.traceparent),
                updateHeaders: withTraceparent(updateHeaders, span.traceparent),
              }
            : input,
        ),
      );
    },
  };
}
