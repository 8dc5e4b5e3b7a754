import type { ProposalAction, ResourceType } from '../../src/domain/proposal';
import { accountsCreate } from './accountsCreate';
import { accountsUpdate } from './accountsUpdate';
import type { ProposalKind } from './kind';

/** Every kind of organization operation. */
export const proposalKinds: readonly ProposalKind[] = [accountsCreate, accountsUpdate];

/** The kind for a resource and an action. Throws when there is none: routes exist only for kinds that do. */
export function kindOf(resourceType: ResourceType, action: ProposalAction): ProposalKind {
  const kind = proposalKinds.find((k) => k.resourceType === resourceType && k.action === action);
  if (!kind) throw new Error(`there is no operation ${resourceType} ${action}`);
  return kind;
}
