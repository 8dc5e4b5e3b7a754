import {
  type ActivityInput,
  currentUpdateInfo,
  getRandomStream,
  type LocalActivityInput,
  proxySinks,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import type { ApprovalState } from '../src/domain/approvalState';
import type { MessageResult } from '../src/temporal/messages';
import { type TracingSinks, traceparentIn, withTraceparent } from '../src/temporal/traceHeader';

/** Its random numbers are not those of workflows, which are the same whether something is traced or not. */
const RANDOM_STREAM = 'orgwallet/tracing';
/** The activities that can begin an execution. */
const CAN_BEGIN: readonly string[] = ['recordVote', 'beginExecution'];

/**
 * Passes the trace of a message on to the activities that it causes: those of its handler, and those of the execution that it
 * begins. Nothing here depends on a setting, and nothing waits: without a header nothing is added, and a history replays the
 * same with and without.
 */
export function interceptors(): WorkflowInterceptors {
  const { tracing } = proxySinks<TracingSinks>();
  const random = getRandomStream(RANDOM_STREAM);
  /** The `traceparent` of each update that is being handled, by its id. */
  const handling = new Map<string, string>();
  /** That of all else: of the message that has begun the execution, or of the creation. */
  let main: string | undefined;

  function traceparent(): string | undefined {
    const update = currentUpdateInfo();
    return update ? handling.get(update.id) : main;
  }

  function traced<Input extends ActivityInput | LocalActivityInput>(input: Input): Input {
    const parent = traceparent();
    return parent ? { ...input, headers: withTraceparent(input.headers, parent) } : input;
  }

  return {
    inbound: [
      {
        execute(input, next) {
          main = traceparentIn(input.headers);
          return next(input);
        },
        handleUpdate(input, next) {
          const parent = traceparentIn(input.headers);
          if (!parent) return next(input);
          const { name, updateId } = input;
          const beganAtMs = Date.now();
          const id = random.uuid4().replaceAll('-', '').slice(0, 16);
          const [version, traceId, , flags] = parent.split('-');
          handling.set(updateId, [version, traceId, id, flags].join('-'));
          const handled = next(input);
          const end = () => {
            handling.delete(updateId);
            const attributes = { 'temporal.workflow_id': workflowInfo().workflowId };
            tracing.record({
              name: `handle ${name}`,
              parent,
              id,
              beganAtMs,
              endedAtMs: Date.now(),
              attributes,
            });
          };
          handled.then(end, end);
          return handled;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(traced(input)),
        scheduleLocalActivity(input, next) {
          const cause = traceparent();
          const done = next(traced(input));
          const isTraced = (cause ?? main) !== undefined;
          if (isTraced && CAN_BEGIN.includes(input.activityType)) {
            const follow = (result: unknown) => {
              const started = result as MessageResult<ApprovalState>;
              if (started.ok && started.state.executionStatus === 'processing') main = cause;
            };
            done.then(follow, () => undefined);
          }
          return done;
        },
        continueAsNew: (input, next) =>
          next(main ? { ...input, headers: withTraceparent(input.headers, main) } : input),
      },
    ],
  };
}
