import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ExecutionStatus, SignatureStatus } from '../domain/approval';

/** The search attributes of workflows. */
export const searchAttributes = {
  organizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  resourceType: defineSearchAttributeKey('ResourceType', SearchAttributeType.KEYWORD),
  action: defineSearchAttributeKey('Action', SearchAttributeType.KEYWORD),
  signatureStatus: defineSearchAttributeKey('SignatureStatus', SearchAttributeType.KEYWORD),
  // The name ExecutionStatus is Temporal's own, for the workflow's status.
  executionState: defineSearchAttributeKey('ExecutionState', SearchAttributeType.KEYWORD),
  accountId: defineSearchAttributeKey('AccountId', SearchAttributeType.KEYWORD_LIST),
  networkId: defineSearchAttributeKey('NetworkId', SearchAttributeType.KEYWORD_LIST),
  expiresAt: defineSearchAttributeKey('ExpiresAt', SearchAttributeType.DATETIME),
} as const;

/** One of them: its name and type. */
export type SearchAttribute = (typeof searchAttributes)[keyof typeof searchAttributes];

/** What the search attributes of an approval's workflow show. */
export interface SearchableState {
  readonly signatureStatus: SignatureStatus;
  readonly executionStatus: ExecutionStatus | null;
  /** ISO 8601. */
  readonly expiresAt: string;
  /** Where it has its effect. */
  readonly accountIds: readonly string[];
  readonly networkIds: readonly number[];
}

/** The search attributes that change with an approval's state, with their values. */
export function stateAttributes(state: SearchableState) {
  return [
    { key: searchAttributes.signatureStatus, value: state.signatureStatus },
    { key: searchAttributes.executionState, value: state.executionStatus ?? 'none' },
    { key: searchAttributes.expiresAt, value: new Date(state.expiresAt) },
    { key: searchAttributes.accountId, value: [...state.accountIds] },
    { key: searchAttributes.networkId, value: state.networkIds.map(String) },
  ];
}

/** Queries of Temporal's list of workflows for operators. */
export const OPERATOR_QUERIES = {
  failedOrBlocked: 'ExecutionStatus="Running" AND ExecutionState IN ("failed","blocked")',
  awaitingSignatures:
    'ExecutionStatus="Running" AND ExecutionState="none" AND SignatureStatus IN ("pendingInitiatorSignature","pendingReviewSignatures")',
} as const;
