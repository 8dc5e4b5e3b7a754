import type { Knex } from 'knex';
import type { Actor } from '../domain/actor';
import type { ApprovalRecord, Decision, Failure, Note, Subject, Tally } from '../domain/approval';
import type { ApprovalKey } from '../domain/approvalRef';
import type { JsonValue } from '../domain/canonicalJson';
import { announceEndAfterCommit } from './announcements';
import { type Guard, lockedAdmins, RAISE_ON_CONFLICT, undefinedOnConflict } from './approvalLocks';
import { type ActingMember, actingMemberColumn, heldCredential } from './authority';
import { findTaken, insertClaims, isClaimTaken, type TakenClaim } from './claims';
import type { Db, Tx } from './database';
import { isExternalIdTaken } from './externalIds';
import { uuidOrNull } from './ids';
import { type BatchedStatement, combineStatements, queryNumbered, requireRow, type Statement } from './rows';
import {
  APPROVAL_COLUMNS,
  type ChangedApproval,
  ownPart,
  type TimeColumn,
  timeColumn,
} from './storedApprovals';
import type { ApprovalRow, IdempotencyRequestRow } from './tables';

/** The state that the creation of an approval depends on, apart from its content. */
export interface CreationRequest {
  /**
   * Its stored body, and the credential that sent it; undefined when there is no such request, or when another approval has
   * its idempotency key.
   */
  readonly request:
    | {
        readonly path: string;
        readonly body: JsonValue;
        /** X-Idempotency-Key. */
        readonly key: string;
        /** SHA-256 of method, path and body. */
        readonly hash: Buffer;
        readonly credentialId: string;
        /** What MAX_OPEN_PER_KEY counts for: an API key, or the member in a session. */
        readonly createdBy: string;
        /** Who acts for it; null when it is not valid any more. */
        readonly actingMember: ActingMember | null;
      }
    | undefined;
  /** True when the approval has been created already. */
  readonly created: boolean;
  /** True once the signer has admitted the genesis of the organization. */
  readonly admitted: boolean;
  /** How many open proposals and transactions it has created. */
  readonly open: number;
  readonly time: Date;
  /** Up to which decision of its organization the tables were read. */
  readonly sequence: bigint;
}

/** What `READ_CREATION` reads. */
type CreationColumns = TimeColumn & {
  readonly created: boolean;
  readonly admitted: boolean;
  readonly open: number;
  readonly sequence: bigint;
} & (
    | (Pick<IdempotencyRequestRow, 'path' | 'body' | 'key' | 'request_hash' | 'credential_id'> & {
        readonly created_by: string;
        readonly acting_member: ActingMember | null;
      })
    | { readonly credential_id: null }
  );

const READ_CREATION = `SELECT r.path, r.body, r.key, r.request_hash, r.credential_id, r.created_by, ${actingMemberColumn('r.credential_id')} AS acting_member, ${timeColumn},
      EXISTS (SELECT FROM approvals WHERE organization_id = $1 AND id = $2) AS created,
      EXISTS (SELECT FROM sealed_states WHERE organization_id = $1) AS admitted,
      (SELECT projected_sequence FROM organizations WHERE id = $1) AS sequence,
      (SELECT count(*)::integer FROM approvals
        WHERE organization_id = $1 AND created_by = r.created_by AND closed_at IS NULL) AS open
    FROM (SELECT) AS always
    LEFT JOIN (SELECT q.path, q.body, q.key, q.request_hash, q.credential_id, coalesce(s.member_id, q.credential_id) AS created_by
        FROM idempotency_requests q LEFT JOIN sessions s ON s.id = q.credential_id
        WHERE q.organization_id = $1 AND q.resource_id = $2 AND q.id = $3 AND q.method = 'POST'
          AND NOT EXISTS (SELECT FROM approvals
            WHERE organization_id = $1 AND idempotency_key = q.key AND id <> $2)) r ON true`;

/** Reads the stored request to create an approval, with the state that it depends on, in one statement. */
export async function readCreationRequest(
  db: Db | Tx,
  key: ApprovalKey & { readonly requestId?: string | undefined },
): Promise<CreationRequest> {
  const values = [key.organizationId, key.id, uuidOrNull(key.requestId)];
  const row = requireRow((await queryNumbered<CreationColumns>(db, READ_CREATION, values))[0]);
  return {
    request:
      row.credential_id === null
        ? undefined
        : {
            path: row.path,
            body: row.body,
            key: row.key,
            hash: row.request_hash,
            credentialId: row.credential_id,
            createdBy: row.created_by,
            actingMember: row.acting_member,
          },
    created: row.created,
    admitted: row.admitted,
    open: row.open,
    time: row.read_at,
    sequence: row.sequence,
  };
}

/** The shared part of a new record. */
export interface NewApproval {
  readonly id: string;
  readonly organizationId: string;
  readonly summary: string;
  readonly mentions: readonly string[];
  readonly notes?: readonly Note[];
  /** Absent: when it is stored. */
  readonly createdAt?: Date;
  readonly expiresAt: Date;
  readonly createdBy: string | null;
  /** The request that creates it. */
  readonly requestedWith?: Pick<NonNullable<CreationRequest['request']>, 'key' | 'hash'>;
  /** Its place in the order of commit: the position of the audit entry of its creation. */
  readonly position: Knex.Raw | bigint;
}

/** Stores the shared part of a new record. */
export function insertApproval(tx: Db | Tx, subject: Subject, approval: NewApproval): Statement {
  return tx('approvals').insert({
    id: approval.id,
    subject,
    organization_id: approval.organizationId,
    summary: approval.summary,
    names: approval.mentions,
    notes: JSON.stringify(approval.notes ?? []),
    ...(approval.createdAt && { created_at: approval.createdAt }),
    expires_at: approval.expiresAt,
    created_by: approval.createdBy,
    idempotency_key: approval.requestedWith?.key ?? null,
    request_hash: approval.requestedWith?.hash ?? null,
    position: approval.position,
  });
}

/** Of `require_open_below`. */
const TOO_MANY_OPEN = 'OW001';

/** The place of a new record, and what the decision was based on. */
export interface Creation extends ApprovalKey {
  readonly claims: readonly string[];
  readonly sequence: bigint;
  /** What requests it. */
  readonly credentialId: string;
  /** What `maxOpen` counts for: an API key, or the member in a session. */
  readonly createdBy: string;
  /** How many open ones it may have. */
  readonly maxOpen: number;
}

/**
 * Stores a new record with `batch`, and takes its claims, in one statement. Returns the claim that another open approval
 * has; that its creator has as many open ones as it may have, counting those that are created at the same time; or that
 * nothing was stored, because the admins have decided something since `sequence` was read, the credential was ended, the
 * claim is free again, or another transaction has just got its external id.
 */
export async function storeApproval(
  db: Db,
  { id, organizationId, claims, sequence, credentialId, createdBy, maxOpen }: Creation,
  batch: readonly BatchedStatement[],
): Promise<'stored' | 'tooManyOpen' | TakenClaim | undefined> {
  const credential = heldCredential(credentialId);
  const unchanged = db.raw(
    `SELECT FROM admins JOIN organizations o ON o.id = admins.organization_id ${credential.join}
      WHERE o.projected_sequence = ?::bigint FOR SHARE OF o ${credential.lock}`,
    [...credential.bindings, String(sequence)],
  );
  const admins = lockedAdmins(db, organizationId, credentialId);
  const guard = [...admins, { name: 'unchanged', statement: unchanged }];
  // Executed before anything is stored: whoever waits for others of the same creator holds no lock on the audit log yet.
  const stored = db.select(
    db.raw(RAISE_ON_CONFLICT),
    db.raw('require_open_below(?, ?, ?, ?)', [maxOpen, organizationId, createdBy, id]),
  );
  try {
    const taking = insertClaims(db, { organizationId, id }, claims);
    return await undefinedOnConflict(async () => {
      // The last one is executed first: claims are waited for before the head of the audit log is locked.
      await combineStatements(stored, [...guard, ...batch, ...taking]);
      return 'stored' as const;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === TOO_MANY_OPEN) return 'tooManyOpen';
    if (isExternalIdTaken(error)) return undefined;
    if (!isClaimTaken(error)) throw error;
    return findTaken(db, organizationId, claims);
  }
}

/** Changes of the shared part of a record. */
export interface ApprovalChange {
  readonly executionStatus?: ApprovalRecord['executionStatus'];
  readonly executionAttempt?: number;
  /** Begins the execution of a decision. */
  readonly started?: { readonly decision: Decision; readonly by: Actor; readonly with: Tally };
  readonly waitingFor?: string | null;
  readonly failure?: Failure | null;
  readonly notes?: readonly Note[];
  readonly result?: object | null;
  readonly expired?: true;
  /** Freezes the tally and closes the record. */
  readonly closedWith?: Tally;
  /** Freezes the tally at expiry, while a partly executed one may still be finished. */
  readonly finalTally?: Tally;
  /** Reopens it: the chain has lost its block. */
  readonly reopened?: true;
}

/**
 * Changes what belongs to an approval and decides nothing: its tag is another one, and its version is not, so that nobody who
 * decides from it has to begin again.
 */
export async function touchApproval(tx: Tx, id: string, batch: readonly BatchedStatement[]): Promise<void> {
  // Of the moment: who has waited for the lock began before who had it.
  const updated_at = tx.raw('clock_timestamp()');
  await combineStatements(tx('approvals').where({ id }).update({ updated_at }), batch);
}

/**
 * Changes a record and counts its version up, with other statements in the same round trip. Returns what the record is
 * then, apart from its votes. The end of an execution is announced after the commit. One that is not locked needs a
 * guard: call it inside `undefinedOnConflict`, outside of a database transaction.
 */
export async function updateApproval(
  db: Db | Tx,
  id: string,
  change: ApprovalChange,
  batch: readonly BatchedStatement[] = [],
  guard: Guard = [],
): Promise<ChangedApproval> {
  const now = db.raw('now()');
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  const { executionStatus } = change;
  const update = db('approvals')
    .where({ id })
    .update({
      version: db.raw('version + 1'),
      updated_at: now,
      ...(executionStatus === undefined ? {} : { execution_status: executionStatus }),
      ...(change.executionAttempt === undefined ? {} : { execution_attempt: change.executionAttempt }),
      ...(change.started
        ? {
            decision: change.started.decision,
            decided_by: json(change.started.by),
            executed_with: json(change.started.with),
          }
        : {}),
      ...(change.waitingFor === undefined ? {} : { waiting_for: change.waitingFor }),
      ...(change.failure === undefined ? {} : { failure: json(change.failure) }),
      ...(change.notes ? { notes: JSON.stringify(change.notes) } : {}),
      ...(change.result === undefined ? {} : { result: json(change.result) }),
      ...(change.expired ? { expired_at: now } : {}),
      ...(change.finalTally ? { frozen: json(change.finalTally) } : {}),
      ...(change.closedWith ? { frozen: json(change.closedWith), closed_at: now } : {}),
      ...(change.reopened ? { frozen: null, closed_at: null } : {}),
    })
    .returning(Object.keys(APPROVAL_COLUMNS));
  if (guard.length > 0) update.whereRaw(RAISE_ON_CONFLICT);
  const [row]: ApprovalRow[] = await combineStatements(update, [...guard, ...batch]);
  if (executionStatus !== undefined && executionStatus !== 'processing') announceEndAfterCommit(db, id);
  const changed = requireRow(row);
  return { ...ownPart(changed), result: changed.result };
}
