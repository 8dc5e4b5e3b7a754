import { createHash } from 'node:crypto';
import type { Credential } from '../db/credentials';
import type { Notifications } from '../db/notifications';
import { setNewest } from '../setNewest';
import { createBatcher, everyMs } from './batcher';

const REMEMBERED_MS = 1_000;
const MAX_SECRETS = 10_000;
/** Between two lookups of secrets that have not been valid in this process. */
const UNKNOWN_SECRETS_INTERVAL_MS = 100;

/** What a credential is cached by, and what it expires by, in milliseconds. */
interface CacheClocks {
  readonly elapsedMs: () => number;
  readonly timeMs: () => number;
}

/**
 * Finds whose secrets are, API keys or tokens of sessions, and caches it for a second. The database announces every change of
 * keys, sessions, members and admins at its commit, which clears the cache. Without a connection for these notifications
 * nothing is cached.
 *
 * Secrets that have not been valid in this process are looked up together, ten times per second at most: a flood of
 * invented ones must not load the database, and must not keep a valid one from being found.
 */
export function createCredentialCache(
  lookUp: (secrets: readonly string[]) => Promise<ReadonlyMap<string, Credential>>,
  notifications: Pick<Notifications, 'subscribe' | 'connected'>,
  { elapsedMs, timeMs }: CacheClocks = { elapsedMs: () => performance.now(), timeMs: Date.now },
): (secret: string) => Promise<Credential | undefined> {
  const cached = new Map<string, { credential: Credential; untilMs: number }>();
  const isExpired = ({ expiresAt }: Credential) => expiresAt !== null && expiresAt.getTime() <= timeMs();
  const isCurrent = ({ credential, untilMs }: { credential: Credential; untilMs: number }) =>
    untilMs > elapsedMs() && !isExpired(credential);
  /** Hashes of the secrets that were valid at their last lookup, the longest unused first. */
  const known = new Map<string, true>();
  const lookUpUnknown = createBatcher(lookUp, everyMs(UNKNOWN_SECRETS_INTERVAL_MS));
  let changes = 0;
  notifications.subscribe('access_changed', '', () => {
    changes += 1;
    cached.clear();
  });

  async function find(secret: string, hash: string): Promise<Credential | undefined> {
    const found = known.has(hash) ? (await lookUp([secret])).get(secret) : await lookUpUnknown(secret);
    if (found) setNewest(known, hash, true, MAX_SECRETS);
    else known.delete(hash);
    return found;
  }

  return async (secret) => {
    const hash = createHash('sha256').update(secret).digest('base64');
    const remembered = cached.get(hash);
    if (remembered && isCurrent(remembered) && notifications.connected()) return remembered.credential;
    const changesBefore = changes;
    const safe = notifications.connected();
    const found = await find(secret, hash);
    if (!found || !safe || changes !== changesBefore) {
      cached.delete(hash);
      return found;
    }
    if (cached.size >= MAX_SECRETS) cached.clear();
    cached.set(hash, { credential: found, untilMs: elapsedMs() + REMEMBERED_MS });
    return found;
  };
}
