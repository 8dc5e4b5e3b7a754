import type { Db } from './db/database';
import { oldestExecutionSeconds, readExecutionTimes } from './db/executionTimes';
import type { Logger } from './logging';
import type { Metrics } from './metrics';

const EVERY_MS = 15_000;
/** Those that were executed while the database was away, at most. */
const MOST_NOTED = 10_000;

/** Measures executions of transactions apart from them: what one process has finished, and the oldest of all. */
interface ExecutionTimer {
  /** A transaction was executed. */
  note(transactionId: string): void;
  stop(): Promise<void>;
}

/** Starts measuring, every `everyMs` milliseconds. */
export function watchExecutions(
  { db, metrics, logger }: { readonly db: Db; readonly metrics: Metrics; readonly logger: Logger },
  everyMs = EVERY_MS,
): ExecutionTimer {
  const noted = new Set<string>();

  let isMeasuring = false;

  async function measure(): Promise<void> {
    isMeasuring = true;
    try {
      const ids = [...noted];
      if (ids.length > 0)
        for (const times of await readExecutionTimes(db, ids)) metrics.observeExecution(times);
      for (const id of ids) noted.delete(id);
      metrics.setOldestExecution(await oldestExecutionSeconds(db));
    } catch (error) {
      logger.debug({ err: error }, 'the times of executions cannot be read');
    } finally {
      isMeasuring = false;
    }
  }

  let measuring = measure();
  const timer = setInterval(() => {
    if (!isMeasuring) measuring = measure();
  }, everyMs);
  return {
    note(transactionId) {
      if (noted.size < MOST_NOTED) noted.add(transactionId);
    },
    async stop() {
      clearInterval(timer);
      await measuring;
    },
  };
}
