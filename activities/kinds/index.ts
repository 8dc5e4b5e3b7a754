import type { ProposalAction, ResourceType } from '../../src/domain/proposal';
import { accountsCreate } from './accountsCreate';
import { accountsUpdate } from './accountsUpdate';
import type { ProposalKind } from './kind';

/** Every kind of organization operation. */
export const proposalKinds: readonly ProposalKind[] = [accountsCreate, accountsUpdate];

/** The kind for a resource and an action, or undefined. */
export function findKind(resourceType: ResourceType, action: ProposalAction): ProposalKind | undefined {
  return proposalKinds.find((kind) => kind.resourceType === resourceType && kind.action === action);
}

/** The kind for a resource and an action. Throws when there is none: routes exist only for kinds that do. */
export function kindOf(resourceType: ResourceType, action: ProposalAction): ProposalKind {
  const kind = findKind(resourceType, action);
  if (!kind) throw new Error(`there is no operation ${resourceType} ${action}`);
  return kind;
}
