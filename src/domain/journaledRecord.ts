import type { JsonValue } from './canonicalJson';

/**
 * The record of a transaction as the signer's journal keeps it, to be written back to a database that lost it. The journal
 * is kept for ever: its field names are a format of their own, and no table's. Times are ISO 8601, amounts in wei or the
 * smallest unit of a token are decimal strings, hashes of requests are hex without a prefix.
 */
export interface JournaledRecord {
  readonly approval: JournaledApproval;
  readonly transaction: JournaledTransaction;
  readonly votes: readonly JournaledVote[];
  readonly evidence: readonly JournaledEvidence[];
  readonly usage: readonly JournaledUsage[];
}

/** What is decided by signatures, and how far that was. */
export interface JournaledApproval {
  readonly id: string;
  readonly organizationId: string;
  readonly summary: string;
  readonly names: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly version: number;
  readonly createdBy: string | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string | null;
  readonly executionStatus: string | null;
  readonly executionAttempt: number;
  readonly decision: string | null;
  readonly decidedBy: JsonValue;
  readonly executedWith: JsonValue;
  readonly waitingFor: string | null;
  readonly failure: JsonValue;
  readonly notes: JsonValue;
  readonly result: JsonValue;
  readonly expiredAt: string | null;
  readonly closedAt: string | null;
  readonly finalTally: JsonValue;
}

/** What was asked for. */
export interface JournaledTransaction {
  readonly id: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly initiatorId: string;
  readonly description: string;
  readonly type: string;
  readonly to: string;
  readonly value: string;
  readonly calldata: string;
  readonly content: JsonValue;
  readonly replaces: string | null;
  readonly awaitsRelayerWei: string | null;
  readonly cancelling: boolean;
  readonly reopenings: number;
}

/** A signature on it. */
export interface JournaledVote {
  readonly approvalId: string;
  readonly memberId: string;
  readonly type: string;
  readonly signerAddress: string;
  readonly scheme: string;
  readonly signature: string;
  readonly signatureHash: string;
  readonly initiatorSignatureHash: string | null;
  readonly reason: string | null;
  readonly credentialId: string | null;
  readonly createdAt: string;
}

/** What proved a decision about it. */
export interface JournaledEvidence {
  readonly organizationId: string;
  readonly approvalId: string;
  readonly resolution: string;
  readonly payload: string;
  readonly signatures: JsonValue;
  readonly threshold: number;
  readonly electorate: JsonValue;
  readonly createdAt: string;
}

/** What it took from the budget of its policy. */
export interface JournaledUsage {
  readonly organizationId: string;
  readonly policyId: string;
  readonly transactionId: string;
  readonly networkId: number;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly initiatorId: string;
  readonly accountId: string;
  readonly destination: string;
  readonly status: string;
  readonly reservedAt: string;
  readonly blockAt: string | null;
  readonly decidedAt: string | null;
}
