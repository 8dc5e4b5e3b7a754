import type { OperationIntent } from '@orgwallet/client';
import type { Places } from './faults.ts';
import { NO_POLICY, type PolicyDraft, policyOf } from './policyDraft.ts';

export const POLICY_ACTIONS = ['create', 'update', 'remove'] as const;

/** A proposal of a policy as it is typed. */
export interface PolicyProposalDraft extends PolicyDraft {
  readonly action: (typeof POLICY_ACTIONS)[number];
  readonly removed: readonly string[];
}

export const NO_PROPOSAL: PolicyProposalDraft = { ...NO_POLICY, action: 'create', removed: [] };

/** What can be asked of the policies. */
export type PolicyIntent = OperationIntent<'policies.add' | 'policies.update' | 'policies.remove'>;

/** What the service names, in the draft. */
export const PLACES: Places = [
  [/^policies\[0\]\.tokenTransferCondition\.tokenAddress.*/, 'token'],
  [/^policies\[0\]\.tokenTransferCondition\.tokenDecimals.*/, 'decimals'],
  [/^policies\[0\]\.tokenTransferCondition\.amountThreshold.*/, 'amount'],
  [/^policies\[0\]\.tokenTransferCondition\.destinationAddresses.*/, 'destinations'],
  [/^policies\[0\]\.contractInteractionCondition\[(\d+)\]\.allowedFunctions.*/, 'rules.$1.functions'],
  [/^policies\[0\]\.contractInteractionCondition\[(\d+)\]\.(\w+).*/, 'rules.$1.$2'],
  [/^policies\[0\]\.approverSetting\.threshold.*/, 'threshold'],
  [/^policies\[0\]\.approverSetting.*/, 'approver'],
  [/^policies\[0\]\.initiatorSetting.*/, 'initiator'],
  [/^policies\[0\]\.limitation.*/, 'hours'],
  [/^policies\[0\]\.(\w+).*/, '$1'],
  [/^policyIds.*/, 'removed'],
];

/** What a draft asks for; undefined where nothing is chosen. What is wrong in the draft is wrong in it, or is not in it. */
export function policyIntent(draft: PolicyProposalDraft): PolicyIntent | undefined {
  const { action, removed, id } = draft;
  if (action === 'remove') {
    return removed.length > 0 ? { type: 'policies.remove', policyIds: [...removed] } : undefined;
  }
  if (action === 'create') {
    return { type: 'policies.add', policies: [policyOf({ ...draft, id: '' })] };
  }
  return id ? { type: 'policies.update', policies: [{ ...policyOf(draft), id }] } : undefined;
}
