import { type Db, databaseNow } from '../../db/database';
import { HOUR_MS } from '../../domain/policyEngine';
import { cutoffAfter } from '../cutoff';
import { type CutoffEntry, JournalError } from '../journal/entries';
import type { JournalReader } from '../journal/journalReader';
import { latestExpiry, openRequests } from '../store/writtenBack';

/**
 * The cutoff of now: by the clock of the database, which requests are made by, and never before that of this host and of the
 * journal, whatever the database says. `lifetimeMs`: how long a request can be signed, so that the signed expiry of each says when
 * it was made. Throws JournalError where one can be signed for longer.
 */
export async function cutoffOfNow(
  { db, journal }: { readonly db: Db; readonly journal: Pick<JournalReader, 'lastTime'> },
  { organizationId, lifetimeMs }: { readonly organizationId: string | null; readonly lifetimeMs: number },
): Promise<CutoffEntry> {
  const now = Math.max((await databaseNow(db)).getTime(), Date.now(), journal.lastTime());
  const expiresUntil = new Date(now + lifetimeMs);
  const latest = await latestExpiry(db);
  if (latest && latest.expiresAt > expiresUntil) {
    throw new JournalError(
      `${latest.id} expires at ${latest.expiresAt.toISOString()}, which is more than PROPOSAL_LIFETIME (${lifetimeMs / HOUR_MS} h) from now: set PROPOSAL_LIFETIME here as the API and the workers have it, or the longest that they had lately`,
    );
  }
  return { type: 'cutoff', organizationId, expiresUntil: expiresUntil.toISOString() };
}

/** Ids of what is open, and not decided any more because of a cutoff; oldest first. */
export async function cutOffRequests(db: Db, journal: JournalReader): Promise<string[]> {
  const open = await openRequests(db);
  return open
    .filter((request) => cutoffAfter(journal, request) !== undefined)
    .map(({ id }) => id)
    .filter((id) => !journal.authorizationOf(id) && !journal.isRejected(id) && !journal.cancellationOf(id));
}
