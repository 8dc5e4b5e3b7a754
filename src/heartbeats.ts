import { randomUUID } from 'node:crypto';
import type { Db } from './db/database';
import { endHeartbeats, forgetHeartbeats, noteHeartbeat } from './db/lastSeen';
import { HEARTBEAT_MS } from './domain/lastSeen';
import type { Logger } from './logging';

/** How soon a worker that begins to poll is noted, in milliseconds. */
const LOOK_MS = 250;

/**
 * Notes every few seconds which task queues the workers of this process poll, and soon that one more is polled: one statement,
 * also of many queues. Returns the function that stops it, after which the process counts as ended.
 */
export function keepHeartbeats({
  db,
  polled,
  logger,
}: {
  readonly db: Db;
  /** The queues whose workers poll now. */
  readonly polled: () => readonly string[];
  readonly logger: Logger;
}): () => Promise<void> {
  const id = randomUUID();
  let noted: ReadonlySet<string> = new Set();
  let beatAt = Number.NEGATIVE_INFINITY;

  async function beat(): Promise<void> {
    const queues = polled();
    const isDue = performance.now() - beatAt >= HEARTBEAT_MS;
    if (!isDue && queues.every((queue) => noted.has(queue))) return;
    noted = new Set(queues);
    beatAt = performance.now();
    try {
      if (queues.length > 0) await noteHeartbeat(db, id, queues);
    } catch (error) {
      // A database that does not answer is reported by whoever needs it.
      logger.debug({ err: error }, 'a heartbeat cannot be written');
    }
  }

  let beating = forgetHeartbeats(db)
    .catch(() => undefined)
    .then(beat);
  const timer = setInterval(() => {
    beating = beating.then(beat);
  }, LOOK_MS);
  return async () => {
    clearInterval(timer);
    await beating;
    await endHeartbeats(db, id).catch(() => undefined);
  };
}
