import type { Tx } from './database';

/**
 * SQL of statements that come first: they wait for a place in the queue of each name, in this order, before a row is locked.
 * Postgres lets share locks of a row pass an update that waits for it, so that overlapping ones keep it out for ever; who
 * shares a queue waits behind who waits to have it alone. The row is locked all the same: that is what reads its newest version.
 */
export const QUEUE_SHARED = 'queue_shared';
export const QUEUE_ALONE = 'queue_alone';

/** The queue of what the signer has sealed of an organization. That of its admins, and of a credential, is named by its id. */
export function sealedQueue(organizationId: string): string {
  return `${organizationId}/sealed`;
}

/** Waits until nobody else has, or shares, the queues of these ids, and has them until the end of the transaction. */
export async function queueAlone(tx: Tx, ids: readonly string[]): Promise<void> {
  const inOneOrder = [...new Set(ids)].sort();
  if (inOneOrder.length > 0) await tx.raw(`SELECT ${QUEUE_ALONE}(VARIADIC ?::text[])`, [inOneOrder]);
}
