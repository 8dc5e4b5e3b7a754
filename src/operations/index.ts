import { BASE_PATH } from '../contract/endpoint';
import type { JsonValue } from '../domain/canonicalJson';
import type { ProposalAction, ResourceType } from '../domain/proposal';
import { accountsCreateRequest } from './accountsCreate.request';
import { accountsUpdateRequest } from './accountsUpdate.request';
import { adminsUpdateRequest } from './adminsUpdate.request';
import { groupsCreateRequest } from './groupsCreate.request';
import { groupsDeleteRequest } from './groupsDelete.request';
import { groupsUpdateRequest } from './groupsUpdate.request';
import type { ProposalKind } from './kind';
import { membersCreateRequest } from './membersCreate.request';
import { membersRemoveRequest } from './membersRemove.request';
import { membersUpdateRequest } from './membersUpdate.request';
import { policiesCreateRequest } from './policiesCreate.request';
import { policiesRemoveRequest } from './policiesRemove.request';
import { policiesUpdateRequest } from './policiesUpdate.request';

/** Every kind of organization operation. A new kind is a rule and a request, and one line here and in `rules.ts`. */
export const operations: readonly ProposalKind[] = [
  accountsCreateRequest,
  accountsUpdateRequest,
  membersCreateRequest,
  membersUpdateRequest,
  membersRemoveRequest,
  groupsCreateRequest,
  groupsUpdateRequest,
  groupsDeleteRequest,
  policiesCreateRequest,
  policiesUpdateRequest,
  policiesRemoveRequest,
  adminsUpdateRequest,
];

/** The kind for a resource and an action, or undefined. */
export function findKind(resourceType: ResourceType, action: ProposalAction): ProposalKind | undefined {
  return operations.find((kind) => kind.resourceType === resourceType && kind.action === action);
}

/** The kind for a resource and an action. Throws for an unknown kind: routes exist only for known ones. */
export function operationKindOf(resourceType: ResourceType, action: ProposalAction): ProposalKind {
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

/** The kind that a request proposes, by its path below the base path. Throws for an unknown path: routes exist only for known ones. */
export function kindOfRequest(path: string, body: JsonValue): ProposalKind {
  const kind = operations.find((candidate) => proposes(candidate, `${BASE_PATH}${path}`, body));
  if (!kind) throw new Error(`no operation for ${path}`);
  return kind;
}
