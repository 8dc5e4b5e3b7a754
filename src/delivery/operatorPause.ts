import { appendAudit } from '../db/audit';
import type { Db } from '../db/database';
import { type Destination, findDestination, updateDestination } from '../db/destinations';
import { OPERATOR } from '../domain/actor';
import type { DestinationKind } from '../domain/delivery';
import { destinationEntry } from './destinationEntry';

/**
 * Pauses or resumes a destination as an operator, audited; `kinds`: only one of these. Returns it as it is then, unchanged where it was so before; undefined
 * where it is not there.
 */
export async function setPaused(
  db: Db,
  id: string,
  isPaused: boolean,
  { kinds }: { readonly kinds?: readonly DestinationKind[] } = {},
): Promise<Destination | undefined> {
  return db.transaction(async (tx) => {
    const found = await findDestination(tx, id, { ...(kinds ? { kinds } : {}), lock: true });
    if (!found || (found.pausedFor !== null) === isPaused) return found;
    const changed = await updateDestination(tx, id, { pausedFor: isPaused ? 'operator' : null });
    await appendAudit(tx, found.organizationId, [
      destinationEntry(found, isPaused ? 'paused' : 'resumed', OPERATOR, {
        reason: isPaused ? 'operator' : found.pausedFor,
      }),
    ]);
    return changed;
  });
}
