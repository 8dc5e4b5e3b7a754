import { BASE_PATH } from '../contract/endpoint';
import type { JsonValue } from '../domain/canonicalJson';
import type { ProposalAction, ResourceType } from '../domain/proposal';
import { accountsCreate } from './accountsCreate';
import { accountsUpdate } from './accountsUpdate';
import { adminsUpdate } from './adminsUpdate';
import { groupsCreate } from './groupsCreate';
import { groupsDelete } from './groupsDelete';
import { groupsUpdate } from './groupsUpdate';
import type { ProposalKind } from './kind';
import { membersCreate } from './membersCreate';
import { membersRemove } from './membersRemove';
import { membersUpdate } from './membersUpdate';
import { policiesCreate } from './policiesCreate';
import { policiesRemove } from './policiesRemove';
import { policiesUpdate } from './policiesUpdate';

/** Every kind of organization operation. A new kind is one file, and one line here. */
export const operations: readonly ProposalKind[] = [
  accountsCreate,
  accountsUpdate,
  membersCreate,
  membersUpdate,
  membersRemove,
  groupsCreate,
  groupsUpdate,
  groupsDelete,
  policiesCreate,
  policiesUpdate,
  policiesRemove,
  adminsUpdate,
];

/** The kind for a resource and an action, or undefined. */
export function findKind(resourceType: ResourceType, action: ProposalAction): ProposalKind | undefined {
  return operations.find((kind) => kind.resourceType === resourceType && kind.action === action);
}

/** The kind for a resource and an action. Throws for an unknown kind: routes exist only for known ones. */
export function kindOf(resourceType: ResourceType, action: ProposalAction): ProposalKind {
  const kind = findKind(resourceType, action);
  if (!kind) throw new Error(`there is no operation ${resourceType} ${action}`);
  return kind;
}

/** True when a request with that path and body proposes an operation of that kind. */
export function proposes(kind: ProposalKind, path: string, body: JsonValue): boolean {
  return kind.requests.some(
    (request) => `${BASE_PATH}${request.path}` === path && (request.appliesTo?.(body) ?? true),
  );
}
