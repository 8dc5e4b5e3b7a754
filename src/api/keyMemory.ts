import { createHash } from 'node:crypto';
import type { AuthenticatedKey } from '../db/apiKeys';
import type { Notifications } from '../db/notifications';

const REMEMBERED_MS = 1_000;
const MAX_KEYS = 10_000;

/**
 * Caches authenticated keys for a second. The database announces every change of keys, members and admins at its commit,
 * which clears the cache. Without a connection for these notifications nothing is cached.
 */
export function createKeyMemory(
  authenticate: (key: string) => Promise<AuthenticatedKey | undefined>,
  notifications: Pick<Notifications, 'subscribe' | 'connected'>,
  nowMs: () => number = Date.now,
): (key: string) => Promise<AuthenticatedKey | undefined> {
  const known = new Map<string, { key: AuthenticatedKey; untilMs: number }>();
  let changes = 0;
  notifications.subscribe('access_changed', '', () => {
    changes += 1;
    known.clear();
  });
  return async (key) => {
    const hash = createHash('sha256').update(key).digest('base64');
    const remembered = known.get(hash);
    if (remembered && remembered.untilMs > nowMs() && notifications.connected()) return remembered.key;
    const changesBefore = changes;
    const safe = notifications.connected();
    const found = await authenticate(key);
    if (!found || !safe || changes !== changesBefore) {
      known.delete(hash);
      return found;
    }
    if (known.size >= MAX_KEYS) known.clear();
    const expiresMs = found.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    known.set(hash, { key: found, untilMs: Math.min(nowMs() + REMEMBERED_MS, expiresMs) });
    return found;
  };
}
