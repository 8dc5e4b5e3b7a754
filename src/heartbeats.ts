import { randomUUID } from 'node:crypto';
import type { Db } from './db/database';
import { endHeartbeats, forgetHeartbeats, noteHeartbeat } from './db/lastSeen';
import { HEARTBEAT_MS } from './domain/lastSeen';
import type { Logger } from './logging';

/**
 * Notes every few seconds which task queues the workers of this process poll: one statement, also of many queues. Returns the
 * function that stops it, after which the process counts as ended.
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

  async function beat(): Promise<void> {
    const queues = polled();
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
  }, HEARTBEAT_MS);
  return async () => {
    clearInterval(timer);
    await beating;
    await endHeartbeats(db, id).catch(() => undefined);
  };
}
