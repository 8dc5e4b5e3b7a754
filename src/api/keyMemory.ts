import { createHash } from 'node:crypto';
import type { Credential } from '../db/credentials';
import type { Notifications } from '../db/notifications';
import { createBatcher } from './batcher';

const REMEMBERED_MS = 1_000;
const MAX_KEYS = 10_000;
/** Between two lookups of keys that have not been valid in this process. */
const UNKNOWN_KEYS_INTERVAL_MS = 100;

/** What a key is cached by, and what it expires by, in milliseconds. */
interface KeyClocks {
  readonly elapsedMs: () => number;
  readonly timeMs: () => number;
}

/**
 * Caches authenticated keys for a second. The database announces every change of keys, members and admins at its commit,
 * which clears the cache. Without a connection for these notifications nothing is cached.
 *
 * Keys that have not been valid in this process are looked up together, ten times per second at most: a flood of
 * invented keys must not load the database, and must not keep a valid key from being found.
 */
export function createKeyMemory(
  lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, Credential>>,
  notifications: Pick<Notifications, 'subscribe' | 'connected'>,
  { elapsedMs, timeMs }: KeyClocks = { elapsedMs: () => performance.now(), timeMs: Date.now },
): (key: string) => Promise<Credential | undefined> {
  const cached = new Map<string, { key: Credential; untilMs: number }>();
  const isExpired = ({ expiresAt }: Credential) => expiresAt !== null && expiresAt.getTime() <= timeMs();
  const isCurrent = ({ key, untilMs }: { key: Credential; untilMs: number }) =>
    untilMs > elapsedMs() && !isExpired(key);
  /** Hashes of the keys that were valid at their last lookup, the longest unused first. */
  const known = new Set<string>();
  const lookUpUnknown = createBatcher(lookUp, UNKNOWN_KEYS_INTERVAL_MS);
  let changes = 0;
  notifications.subscribe('access_changed', '', () => {
    changes += 1;
    cached.clear();
  });

  async function find(key: string, hash: string): Promise<Credential | undefined> {
    const found = known.has(hash) ? (await lookUp([key])).get(key) : await lookUpUnknown(key);
    known.delete(hash);
    if (found) known.add(hash);
    const [oldest] = known;
    if (known.size > MAX_KEYS && oldest !== undefined) known.delete(oldest);
    return found;
  }

  return async (key) => {
    const hash = createHash('sha256').update(key).digest('base64');
    const remembered = cached.get(hash);
    if (remembered && isCurrent(remembered) && notifications.connected()) return remembered.key;
    const changesBefore = changes;
    const safe = notifications.connected();
    const found = await find(key, hash);
    if (!found || !safe || changes !== changesBefore) {
      cached.delete(hash);
      return found;
    }
    if (cached.size >= MAX_KEYS) cached.clear();
    cached.set(hash, { key: found, untilMs: elapsedMs() + REMEMBERED_MS });
    return found;
  };
}
