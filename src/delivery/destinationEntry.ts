import type { AuditInput } from '../db/audit';
import type { Destination } from '../db/destinations';
import type { Actor } from '../domain/actor';
import { isChannelKind } from '../domain/delivery';

/** The audit entry of what became of a destination. */
export function destinationEntry(
  { id, kind }: Pick<Destination, 'id' | 'kind'>,
  verb: 'disabled' | 'paused' | 'resumed',
  actor: Actor,
  details: AuditInput['details'],
): AuditInput {
  const resourceType = isChannelKind(kind) ? 'channel' : 'webhook';
  return { action: `${resourceType}.${verb}`, actor, resourceType, resourceId: id, details };
}
