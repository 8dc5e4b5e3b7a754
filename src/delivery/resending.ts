import { type AuditInput, appendAudit } from '../db/audit';
import type { Tx } from '../db/database';
import { type Destination, insertResends, type ResendSelection } from '../db/destinations';
import type { Actor } from '../domain/actor';

/** The most events that are sent once more at once. */
const MAX_RESENT = 10_000;

/** Has events sent to a webhook once more, at most MAX_RESENT, audited. Returns how many. */
export async function resendTo(
  tx: Tx,
  webhook: Destination,
  selection: ResendSelection,
  { actor, details = {} }: { readonly actor: Actor; readonly details?: AuditInput['details'] },
): Promise<number> {
  const events = await insertResends(tx, webhook, selection, MAX_RESENT);
  if (events > 0) {
    const entry = { action: 'webhook.resent', resourceType: 'webhook', resourceId: webhook.id } as const;
    await appendAudit(tx, webhook.organizationId, [{ ...entry, actor, details: { events, ...details } }]);
  }
  return events;
}
