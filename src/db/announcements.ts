import { type Db, poolOf, type Tx } from './database';

/** The channel on which the end of an approval's execution is announced; the payload is the approval's id. */
export const EXECUTION_ENDED = 'execution_ended';

/** What is announced with the next statement, by pool. */
const pending = new WeakMap<Db, Set<string>>();

async function announce(db: Db, ids: ReadonlySet<string>): Promise<void> {
  pending.delete(db);
  await db.raw(`SELECT pg_notify('${EXECUTION_ENDED}', id) FROM unnest(?::text[]) AS id`, [[...ids]]);
}

/**
 * Announces the end of an execution that was written, once that is committed, with a statement of its own: commits that
 * notify wait for each other's flush, and those of executions must not. One that a crash loses is found by the next poll.
 */
export function announceEndAfterCommit(handle: Db | Tx, id: string): void {
  const db = poolOf(handle);
  const committed = handle.isTransaction ? (handle as Tx).executionPromise : Promise.resolve();
  committed.then(
    () => {
      const ids = pending.get(db) ?? new Set();
      if (ids.size === 0) setImmediate(() => announce(db, ids).catch(() => undefined));
      pending.set(db, ids.add(id));
    },
    () => undefined,
  );
}
