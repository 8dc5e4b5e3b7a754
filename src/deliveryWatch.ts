import { setTimeout as sleep } from 'node:timers/promises';
import { onAppended } from './db/appended';
import type { Db } from './db/database';
import { type DestinationLag, destinationLags, sweepAttempts } from './db/destinations';
import type { ActiveDeliveries } from './delivery/active';
import type { Logger } from './logging';
import type { Metrics } from './metrics';
import type { WorkflowSender } from './temporal/client';
import { wakeDelivery } from './temporal/deliveryMessages';

/** How often everything is looked at: entries that another process has appended are found then. */
const LOOK_MS = 1_000;
/** The same where there are no destinations, and this process has sent nothing since. */
const IDLE_LOOK_MS = 15_000;
/** After an entry of this process: once it is committed, and again where its statement was slow. */
const AFTER_APPENDED_MS = [10, 50, 250];
/** A workflow gets no more signals than this. */
const SIGNAL_EVERY_MS = 250;
const SWEEP_MS = 3_600_000;

/** What is watched, and with what it is woken. */
interface Watched {
  readonly db: Db;
  readonly sender: WorkflowSender;
  readonly active: ActiveDeliveries;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'setDeliveries'>;
}

/**
 * Wakes the workflow of each destination that has something to be sent: at once where this process appends to the log, within a
 * second else. Returns what stops it.
 */
export function watchDeliveries({ db, sender, active, logger, metrics }: Watched): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const signalledAt = new Map<string, number>();
  /** The destinations of each organization that wait for nothing but events, as last seen. */
  let waiting: ReadonlyMap<string, readonly string[]> = new Map();
  const timers = new Map<number, { readonly timer: NodeJS.Timeout; readonly ids: Set<string> }>();
  let sweptAt = performance.now();
  /** There is nothing to look at, as last seen. */
  let isIdle = true;

  async function wake(lag: DestinationLag): Promise<void> {
    if (active.wake(lag.id)) return;
    const now = performance.now();
    if (now - (signalledAt.get(lag.id) ?? Number.NEGATIVE_INFINITY) < SIGNAL_EVERY_MS) return;
    signalledAt.set(lag.id, now);
    await wakeDelivery(sender, lag);
  }

  const wakeDue = async (lags: readonly DestinationLag[]) => {
    const woken = await Promise.allSettled(lags.filter(({ isDue }) => isDue).map(wake));
    const failed = woken.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  };

  async function lookAtAll(): Promise<void> {
    const lags = await destinationLags(db);
    isIdle = lags.length === 0;
    const ready = lags.filter(({ isDue, oldestMs }) => isDue || oldestMs === 0);
    waiting = new Map(
      ready.map(({ organizationId: own }) => [
        own,
        ready.flatMap(({ id, organizationId }) => (organizationId === own ? [id] : [])),
      ]),
    );
    for (const id of signalledAt.keys()) if (!lags.some((lag) => lag.id === id)) signalledAt.delete(id);
    metrics.setDeliveries(lags);
    await wakeDue(lags);
    if (performance.now() - sweptAt < SWEEP_MS) return;
    sweptAt = performance.now();
    await sweepAttempts(db);
  }

  function lookSoon(organizationId: string, ms: number): void {
    const planned = timers.get(ms);
    if (planned) {
      planned.ids.add(organizationId);
      return;
    }
    const ids = new Set([organizationId]);
    const timer = setTimeout(() => {
      timers.delete(ms);
      destinationLags(db, [...ids])
        .then(wakeDue)
        // The next look finds them.
        .catch(() => undefined);
    }, ms);
    timers.set(ms, { timer, ids });
  }

  const unlisten = onAppended(db, (organizationId) => {
    const idle = (waiting.get(organizationId) ?? []).filter((id) => !active.wake(id));
    if (idle.length === 0 || signal.aborted) return;
    for (const ms of AFTER_APPENDED_MS) lookSoon(organizationId, ms);
  });

  /** Until the next look: soon where there is something to look at. */
  async function pause(): Promise<void> {
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    const until = performance.now() + IDLE_LOOK_MS - LOOK_MS;
    while (isIdle && performance.now() < until && !signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  active.onBegin(() => {
    isIdle = false;
  });

  async function watch(): Promise<void> {
    for (let hasFailed = false; !signal.aborted; ) {
      try {
        await lookAtAll();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) logger.warn({ err: error }, 'destinations cannot be woken now; retrying');
        hasFailed = true;
      }
      await pause();
    }
  }

  const watching = watch();
  return async () => {
    stopped.abort();
    unlisten();
    for (const { timer } of timers.values()) clearTimeout(timer);
    await watching;
  };
}
