import { type Db, poolOf, type Tx } from './database';

/** Who hears, in this process, that entries are being appended to the log of an organization. */
type Listener = (organizationId: string) => void;

const listeners = new WeakMap<Db, Set<Listener>>();

/** Calls `listener` whenever this process has appended to a log, or is about to. Returns what ends it. */
export function onAppended(db: Db, listener: Listener): () => void {
  const known = listeners.get(db) ?? new Set();
  listeners.set(db, known.add(listener));
  return () => known.delete(listener);
}

/** Reports that entries were appended: once they are committed, or at once where the caller's statement commits them itself. */
export function noteAppended(handle: Db | Tx, organizationId: string): void {
  const heard = listeners.get(poolOf(handle));
  if (!heard || heard.size === 0) return;
  const report = () => {
    for (const listener of heard) listener(organizationId);
  };
  if (handle.isTransaction) (handle as Tx).executionPromise.then(report, () => undefined);
  else setImmediate(report);
}
