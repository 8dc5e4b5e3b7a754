import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, CompleteAsyncError, Context, type Info } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  type Client,
} from '@temporalio/client';
import { withTimeLimit } from '../timeLimit';

/** An activity that can wait for long. `signal` ends it: nobody wants its result any more, or another process goes on. */
type WaitingActivity<Input, Result> = (input: Input, signal: AbortSignal) => Promise<Result>;

/** Makes an activity of one that waits. */
export type WithoutSlot = <Input, Result>(
  run: WaitingActivity<Input, Result>,
) => (input: Input) => Promise<Result>;

/** Runs an activity: logs its end, and makes its error fit for the history. */
export type RunObserved = <Result>(
  info: Info,
  args: readonly unknown[],
  run: () => Promise<Result>,
) => Promise<Result>;

/** What takes no longer than this keeps its slot, and is completed without another call. */
const SLOT_MS = 1_000;
/** Temporal gives an activity to another process when it has not heard of it for its heartbeat timeout. */
const HEARTBEAT_MS = 14_000;
/** A heartbeat that Temporal has not taken is sent again after this. */
const HEARTBEAT_RETRY_MS = 3_000;
const HEARTBEAT_TIMEOUT_MS = 30_000;
const CALL_LIMIT_MS = 4_000;
const RETRY_MS = 1_000;
const STOP_LIMIT_MS = 2_000;

type Settled = { readonly result: unknown } | { readonly error: unknown };

interface Waiting {
  readonly token: Uint8Array;
  readonly abort: AbortController;
  isBeating: boolean;
  /** Resolves when it has ended, and Temporal has its result. */
  ended: Promise<void>;
}

/** The failure of an activity that another process goes on with, at once. */
function released(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Released', message, nextRetryDelay: '100ms' });
}

/** The activities of this process that wait without a slot of their worker. Temporal learns their ends by calls of its own. */
export class WaitingActivities {
  private readonly waiting = new Set<Waiting>();

  constructor(
    private readonly client: Client,
    private readonly observed: RunObserved,
  ) {}

  /** Makes an activity of one that waits. */
  readonly withoutSlot: WithoutSlot = (run) => async (input) => {
    const { info, cancellationSignal } = Context.current();
    const abort = new AbortController();
    const cancel = () => abort.abort(cancellationSignal.reason);
    cancellationSignal.addEventListener('abort', cancel);
    const running = run(input, abort.signal);
    const over = new AbortController();
    const slot = sleep(SLOT_MS, 'waits', { signal: over.signal }).catch(() => 'waits');
    try {
      const first = await Promise.race([running.then((result) => ({ result })), slot]);
      if (typeof first !== 'string') return first.result;
    } finally {
      over.abort();
      cancellationSignal.removeEventListener('abort', cancel);
    }
    this.wait(info, input, running, abort);
    throw new CompleteAsyncError();
  };

  /** Gives what waits to other processes, at once. */
  async stop(): Promise<void> {
    const failure = released('this process ends; another one goes on');
    const ends = [...this.waiting].map(async (waiting) => {
      waiting.abort.abort(failure);
      await this.tell(() => this.client.activity.fail(waiting.token, failure)).catch(() => undefined);
      await waiting.ended;
    });
    await withTimeLimit(Promise.all(ends), STOP_LIMIT_MS);
  }

  private wait(info: Info, input: unknown, running: Promise<unknown>, abort: AbortController): void {
    const { signal } = abort;
    const waiting: Waiting = { token: info.taskToken, abort, isBeating: false, ended: Promise.resolve() };
    const heartbeat = setInterval(() => void this.beat(waiting), HEARTBEAT_MS);
    // What was ended from outside is neither a failure in the metrics nor completed here.
    const unlessEnded = () =>
      running.catch((error) => {
        throw signal.aborted ? new CompleteAsyncError() : error;
      });
    const end = async () => {
      const outcome: Settled = await this.observed(info, [input], unlessEnded).then(
        (result) => ({ result }),
        (error) => ({ error }),
      );
      clearInterval(heartbeat);
      if (!signal.aborted) await this.complete(waiting, outcome);
      this.waiting.delete(waiting);
    };
    this.waiting.add(waiting);
    void this.beat(waiting);
    waiting.ended = end();
  }

  private tell<T>(call: () => Promise<T>): Promise<T> {
    return this.client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  }

  /** Without an answer the activity goes on: it times out, or a later heartbeat gets through. */
  private async beat(waiting: Waiting): Promise<void> {
    if (waiting.isBeating) return;
    waiting.isBeating = true;
    try {
      while (!(await this.hasBeaten(waiting))) await sleep(HEARTBEAT_RETRY_MS, undefined, { ref: false });
    } finally {
      waiting.isBeating = false;
    }
  }

  /** Sends a heartbeat. False where Temporal has not taken it, and the activity goes on. */
  private async hasBeaten(waiting: Waiting): Promise<boolean> {
    const { token, abort } = waiting;
    if (abort.signal.aborted || !this.waiting.has(waiting)) return true;
    try {
      await this.tell(() => this.client.activity.heartbeat(token));
      return true;
    } catch (error) {
      await this.endAsTold(waiting, error).catch(() => undefined);
      return abort.signal.aborted;
    }
  }

  /** Ends an activity that was cancelled, paused or reset, or that Temporal has forgotten. */
  private async endAsTold({ token, abort }: Waiting, error: unknown): Promise<void> {
    const { activity } = this.client;
    if (error instanceof ActivityNotFoundError) {
      abort.abort(error);
    } else if (error instanceof ActivityCancelledError) {
      abort.abort(error);
      await this.tell(() => activity.reportCancellation(token));
    } else if (error instanceof ActivityPausedError || error instanceof ActivityResetError) {
      abort.abort(error);
      await this.tell(() => activity.fail(token, released('it was paused or reset')));
    }
  }

  /** Tries for as long as Temporal waits for it; after that it gives the activity to another process. */
  private async complete({ token, abort }: Waiting, outcome: Settled): Promise<void> {
    const { activity } = this.client;
    const until = performance.now() + HEARTBEAT_TIMEOUT_MS;
    while (!abort.signal.aborted && performance.now() < until) {
      try {
        if ('result' in outcome) await this.tell(() => activity.complete(token, outcome.result));
        else await this.tell(() => activity.fail(token, outcome.error));
        return;
      } catch (error) {
        if (error instanceof ActivityNotFoundError) return;
      }
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}
