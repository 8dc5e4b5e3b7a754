import { type AuditInput, OPERATOR } from '../db/audit';

/** The audit entry of what an operator writes back. */
export function recovered(
  resourceType: string,
  resourceId: string,
  details: AuditInput['details'],
): AuditInput {
  return { action: `${resourceType}.recovered`, actor: OPERATOR, resourceType, resourceId, details };
}
