import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ExecutionStatus, Failure, SignatureStatus } from '../domain/approval';

/** The search attributes of workflows. */
export const searchAttributes = {
  organizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  resourceType: defineSearchAttributeKey('ResourceType', SearchAttributeType.KEYWORD),
  action: defineSearchAttributeKey('Action', SearchAttributeType.KEYWORD),
  operation: defineSearchAttributeKey('Operation', SearchAttributeType.KEYWORD),
  amount: defineSearchAttributeKey('Amount', SearchAttributeType.KEYWORD),
  signatureStatus: defineSearchAttributeKey('SignatureStatus', SearchAttributeType.KEYWORD),
  // The name ExecutionStatus is Temporal's own, for the workflow's status.
  executionState: defineSearchAttributeKey('ExecutionState', SearchAttributeType.KEYWORD),
  failureCode: defineSearchAttributeKey('FailureCode', SearchAttributeType.KEYWORD),
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
  readonly failure: Pick<Failure, 'code'> | null;
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
    { key: searchAttributes.failureCode, value: state.failure?.code ?? 'none' },
    { key: searchAttributes.expiresAt, value: new Date(state.expiresAt) },
    { key: searchAttributes.accountId, value: [...state.accountIds] },
    { key: searchAttributes.networkId, value: state.networkIds.map(String) },
  ];
}

/** What an approval does, for the list of workflows: none of it ever changes. */
export interface SearchableContent {
  /** `accounts.create`, `transfer`, `call`. */
  readonly operation: string;
  /** `1.5 USDC`; null where nothing is sent, or where it is not to be shown. */
  readonly amount: string | null;
}

/** An organization operation, in a word: `accounts.create`. */
export function operationName({
  resourceType,
  action,
}: {
  readonly resourceType: string;
  readonly action: string;
}): string {
  return `${resourceType}.${action}`;
}

/** The longest value of a keyword that every store of Temporal's list takes, in characters. */
const MAX_KEYWORD = 200;

/** The search attributes that say what an approval does, with their values. */
export function contentAttributes({ operation, amount }: Partial<SearchableContent>) {
  // An activity of an earlier build returns a state without them.
  return [
    ...(operation ? [{ key: searchAttributes.operation, value: operation }] : []),
    ...(amount ? [{ key: searchAttributes.amount, value: amount.slice(0, MAX_KEYWORD) }] : []),
  ];
}

/** Queries of Temporal's list of workflows for operators. */
export const OPERATOR_QUERIES = {
  failedOrBlocked: 'ExecutionStatus="Running" AND ExecutionState IN ("failed","blocked")',
  inProgress: 'ExecutionStatus="Running" AND ExecutionState="processing"',
  awaitingFunds: 'ExecutionStatus="Running" AND FailureCode="relayerFunds"',
  awaitingSignatures:
    'ExecutionStatus="Running" AND ExecutionState="none" AND SignatureStatus IN ("pendingInitiatorSignature","pendingReviewSignatures")',
} as const;
