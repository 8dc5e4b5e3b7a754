import type { AuditInput } from '../../db/audit';
import { OPERATOR } from '../../domain/actor';

/** The audit entry of what an operator writes back. */
export function recoveredEntry(
  resourceType: 'organization' | 'proposal' | 'transaction',
  resourceId: string,
  details: AuditInput['details'],
): AuditInput {
  return { action: `${resourceType}.recovered`, actor: OPERATOR, resourceType, resourceId, details };
}
