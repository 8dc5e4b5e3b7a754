import type { Actor } from '../domain/actor';
import type { ApprovalRecord, Vote } from '../domain/approval';
import { type Columns, selected } from './rows';
import type { ApprovalRow } from './tables';

/** A recorded signature with its evidence. */
export interface StoredVote extends Vote {
  /** The signature as it was sent: ABI-encoded signer and bytes. */
  readonly signature: string;
  readonly createdAt: Date;
}

/** The stored record of every subject. */
export interface StoredApproval extends ApprovalRecord {
  readonly updatedAt: Date;
  /** Position in the order of commit. */
  readonly position: bigint;
  readonly createdBy: string | null;
  readonly waitingFor: string | null;
  /** Who began the last execution. */
  readonly decidedBy: Actor | null;
  readonly votes: readonly StoredVote[];
}

/** The columns of `approvals`. */
export const APPROVAL_COLUMNS = {
  id: true,
  subject: true,
  organization_id: true,
  summary: true,
  names: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
  position: true,
  version: true,
  created_by: true,
  execution_status: true,
  execution_attempt: true,
  decision: true,
  decided_by: true,
  executed_with: true,
  waiting_for: true,
  failure: true,
  notes: true,
  result: true,
  expired_at: true,
  closed_at: true,
  frozen: true,
} as const satisfies Columns<ApprovalRow>;
const OWN_COLUMNS = selected<ApprovalRow>('a', APPROVAL_COLUMNS);

/** The columns of the approval `a`, its votes as one JSON column. */
export const approvalColumns = `${OWN_COLUMNS}, coalesce((SELECT json_agg(json_build_object(
    'memberId', v.member_id, 'type', v.type, 'signerAddress', v.signer_address, 'scheme', v.scheme,
    'signature', v.signature, 'signatureHash', v.signature_hash,
    'initiatorSignatureHash', v.initiator_signature_hash, 'createdAt', v.created_at
  ) ORDER BY v.id) FROM votes v WHERE v.approval_id = a.id), '[]') AS votes`;

/** What `approvalColumns` read. */
export interface ApprovalColumns extends ApprovalRow {
  readonly votes: readonly (Omit<StoredVote, 'createdAt'> & { readonly createdAt: string })[];
}

/** A record after a change, without its votes. */
export type ChangedApproval = Omit<StoredApproval, 'votes'> & { readonly result: ApprovalRow['result'] };

/** A record from its row, without its votes. */
export function ownPart(row: ApprovalRow): Omit<StoredApproval, 'votes'> {
  return {
    id: row.id,
    organizationId: row.organization_id,
    summary: row.summary,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    position: row.position,
    version: row.version,
    createdBy: row.created_by,
    executionStatus: row.execution_status,
    executionAttempt: row.execution_attempt,
    decision: row.decision,
    decidedBy: row.decided_by,
    executedWith: row.executed_with,
    waitingFor: row.waiting_for,
    failure: row.failure,
    notes: row.notes,
    closed: row.closed_at !== null,
    finalTally: row.frozen,
  };
}

/** The record that `approvalColumns` read. */
export function storedApproval(row: ApprovalColumns): StoredApproval {
  return {
    ...ownPart(row),
    votes: row.votes.map((vote) => ({ ...vote, createdAt: new Date(vote.createdAt) })),
  };
}

/** A member as one JSON value. */
export const memberColumn = (member: string) =>
  `json_build_object('id', ${member}.id, 'name', ${member}.name, 'type', ${member}.type,
    'walletAddress', ${member}.wallet_address, 'walletKind', ${member}.wallet_kind)`;

/** The time of the database transaction, in whole milliseconds. */
export const timeColumn = `date_trunc('milliseconds', now()) AS read_at`;

/** What `timeColumn` reads. */
export interface TimeColumn {
  readonly read_at: Date;
}
