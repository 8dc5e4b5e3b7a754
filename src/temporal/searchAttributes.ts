import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

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

/** Queries of Temporal's list of workflows for operators. */
export const OPERATOR_QUERIES = {
  failedOrBlocked: 'ExecutionStatus="Running" AND ExecutionState IN ("failed","blocked")',
  awaitingSignatures:
    'ExecutionStatus="Running" AND ExecutionState="none" AND SignatureStatus IN ("pendingInitiatorSignature","pendingReviewSignatures")',
} as const;
