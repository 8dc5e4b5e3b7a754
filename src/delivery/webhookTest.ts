import type { Db } from '../db/database';
import { type DeliveryAttempt, type Destination, insertAttempts, listAttempts } from '../db/destinations';
import { newId } from '../db/ids';
import { requireRow } from '../db/rows';
import { SYSTEM } from '../domain/actor';
import { GENESIS_HASH } from '../domain/feedCursor';
import { type DeliveryTools, sendWebhook } from './kinds';

/** The type of an event that says nothing: it is in no log. */
const TEST_TYPE = 'webhook.test';

/** Sends a test event to a destination, whatever its state is, records it, and returns what became of it. */
export async function sendTest(
  db: Db,
  tools: DeliveryTools,
  destination: Destination,
): Promise<DeliveryAttempt> {
  const { id, organizationId } = destination;
  const entry = {
    id: newId('log'),
    organizationId,
    position: 0n,
    action: TEST_TYPE,
    actor: SYSTEM,
    resourceType: 'webhook',
    resourceId: id,
    details: {},
    createdAt: new Date(),
    previousHash: GENESIS_HASH,
    hash: GENESIS_HASH,
  };
  const outcome = await sendWebhook(tools, destination, entry);
  const event = { id: entry.id, type: TEST_TYPE, position: 0n };
  await insertAttempts(db, id, [{ reason: 'test', event, attempt: 1, isLast: true, outcome }]);
  return requireRow((await listAttempts(db, { id, eventId: entry.id, limit: 1 }))[0]);
}
