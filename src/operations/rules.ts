import type { ProposalAction, ResourceType } from '../domain/proposal';
import { accountsCreate } from './accountsCreate';
import { accountsUpdate } from './accountsUpdate';
import { adminsUpdate } from './adminsUpdate';
import { groupsCreate } from './groupsCreate';
import { groupsDelete } from './groupsDelete';
import { groupsUpdate } from './groupsUpdate';
import { membersCreate } from './membersCreate';
import { membersRemove } from './membersRemove';
import { membersUpdate } from './membersUpdate';
import { policiesCreate } from './policiesCreate';
import { policiesRemove } from './policiesRemove';
import { policiesUpdate } from './policiesUpdate';
import type { OperationRule } from './rule';

/** The rule of every kind of organization operation. */
export const rules = [
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
] as readonly unknown[] as readonly OperationRule[];

/** The rule for a resource and an action, or undefined. */
export function findRule(resourceType: ResourceType, action: ProposalAction): OperationRule | undefined {
  return rules.find((rule) => rule.resourceType === resourceType && rule.action === action);
}

/** The rule for a resource and an action. Throws for an unknown operation: no such proposal is created. */
export function ruleOf(resourceType: ResourceType, action: ProposalAction): OperationRule {
  const rule = findRule(resourceType, action);
  if (!rule) throw new Error(`there is no operation ${resourceType} ${action}`);
  return rule;
}
