import type { Knex } from 'knex';
import type { Actor } from '../domain/actor';
import type {
  ApprovalRecord,
  Decision,
  Failure,
  MemberSummary,
  Note,
  Subject,
  Tally,
  Vote,
  VoteType,
} from '../domain/approval';
import type { ApprovalKey } from '../domain/approvalRef';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { AdminSet } from '../domain/proposal';
import { announceEndAfterCommit } from './announcements';
import type { Db, Tx } from './database';
import { uuidOrNull } from './ids';
import { type PreparedStatement, runPrepared } from './prepared';
import { type Along, type NamedStatement, requireRow, type Statement, selected, together } from './rows';
import type { ApprovalRow, IdempotencyRequestRow } from './tables';

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

/** The filter of a list of approvals, whatever their subject. */
export interface ApprovalFilter {
  readonly organizationId?: string;
  readonly executionStatus?: readonly string[];
  /** Only those that are not closed. */
  readonly unclosed?: true;
  readonly before?: bigint;
  readonly limit: number;
}

/**
 * The WHERE, ORDER BY and LIMIT of a list of approvals `a`, newest first. `own`: the subject's conditions, each with the
 * value of its placeholder (undefined leaves it out), and those that need no value.
 */
export function approvalSelection(
  filter: ApprovalFilter,
  own: {
    readonly subject: ApprovalRow['subject'];
    readonly valued: readonly (readonly [sql: string, value: Knex.Value | undefined])[];
    readonly fixed: readonly string[];
  },
): { text: string; values: Knex.Value[] } {
  const valued = [
    ['a.organization_id = ?', filter.organizationId],
    // Named in every list: the index in the order of a list begins with the organization and the subject.
    ['a.subject = ?', own.subject],
    ['a.execution_status = ANY (?::text[])', filter.executionStatus && [...filter.executionStatus]],
    ['a.position < ?::bigint', filter.before === undefined ? undefined : String(filter.before)],
    ...own.valued,
  ] as const;
  const given = valued.filter((pair): pair is readonly [string, Knex.Value] => pair[1] !== undefined);
  const conditions = [
    ...given.map(([sql]) => sql),
    ...(filter.unclosed ? ['a.closed_at IS NULL'] : []),
    ...own.fixed,
  ];
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const order = filter.organizationId === undefined ? 'a.id DESC' : 'a.position DESC, a.id DESC';
  return {
    text: `${where} ORDER BY ${order} LIMIT ?`,
    values: [...given.map(([, value]) => value), filter.limit],
  };
}

const OWN = {
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
} as const satisfies Record<keyof ApprovalRow, true>;
const OWN_COLUMNS = selected<ApprovalRow>('a', OWN);

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
type ChangedApproval = Omit<StoredApproval, 'votes'> & { readonly result: ApprovalRow['result'] };

function ownPart(row: ApprovalRow): Omit<StoredApproval, 'votes'> {
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
    frozen: row.frozen,
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

/**
 * The member that the audit log names for what a credential does, as one JSON value: of a session its own, of a key its
 * first that is an admin, else its first.
 */
const actingMemberColumn = (credentialId: string) => `coalesce(
      (SELECT ${memberColumn('m')} FROM sessions s JOIN members m ON m.id = s.member_id
      WHERE s.id = ${credentialId} AND m.removed_at IS NULL),
      (SELECT ${memberColumn('m')}
      FROM api_key_members k JOIN members m ON m.id = k.member_id
      LEFT JOIN admin_set_members s ON s.organization_id = m.organization_id AND s.member_id = m.id
      WHERE k.api_key_id = ${credentialId} AND m.removed_at IS NULL AND m.type = 'api'
      ORDER BY s.member_id IS NULL, k.place LIMIT 1))`;

/** The threshold and the members of the admin set with the alias `set`. */
export function adminColumns(set: string): string {
  return `${set}.threshold AS admin_threshold,
      coalesce((SELECT json_agg(${memberColumn('m')} ORDER BY m.id)
        FROM admin_set_members admin JOIN members m ON m.id = admin.member_id
        WHERE admin.organization_id = ${set}.organization_id AND m.removed_at IS NULL), '[]') AS admin_members`;
}

/** What `adminColumns` read. */
export interface AdminColumns {
  readonly admin_threshold: number;
  readonly admin_members: readonly MemberSummary[];
}

/** The admins that `adminColumns` read. */
export function adminsOf(row: AdminColumns): AdminSet {
  return { threshold: row.admin_threshold, members: row.admin_members };
}

/** The time of the database transaction, in whole milliseconds. */
export const timeColumn = `date_trunc('milliseconds', now()) AS read_at`;

/** What `timeColumn` reads. */
export interface TimeColumn {
  readonly read_at: Date;
}

/** Names a message to an approval, or (without `messageId`) only the approval. */
export interface MessageKey extends ApprovalKey {
  readonly messageId?: string | undefined;
  /** Id of the stored request that carried it, when it came through the API. */
  readonly requestId?: string | undefined;
}

/** The effect of a message to an approval, and its sender. */
export interface MessageOrigin {
  /** True when the message has had its effect. */
  readonly messageTaken: boolean;
  /** The API key or session that sent the message; null when it came by signal or from an operator. */
  readonly credentialId: string | null;
  /** Who acts for it; null when none of its members is left. */
  readonly actingMember: MemberSummary | null;
  /** Up to which decision of its organization the tables were read. */
  readonly sequence: bigint;
}

/** The columns of a message to an approval: `$1` organization, `$2` approval, `$3` message, `$4` request. */
export const messageColumns = `
    EXISTS (SELECT FROM received_messages WHERE approval_id = $2 AND message_id = $3) AS message_taken,
    (SELECT projected_sequence FROM organizations WHERE id = $1) AS sequence,
    (SELECT json_build_object('credentialId', r.credential_id, 'actingMember', ${actingMemberColumn('r.credential_id')})
      FROM idempotency_requests r
      WHERE r.id = $4 AND r.organization_id = $1 AND r.resource_id = $2) AS request`;

/** The values of `messageColumns`. */
export function messageValues({ organizationId, id, messageId, requestId }: MessageKey) {
  return [organizationId, id, messageId ?? null, uuidOrNull(requestId)];
}

/** What `messageColumns` read. */
export interface MessageColumns {
  readonly message_taken: boolean;
  readonly sequence: bigint;
  readonly request: Pick<MessageOrigin, 'credentialId' | 'actingMember'> | null;
}

/** The origin that `messageColumns` read. */
export function messageOrigin(row: MessageColumns): MessageOrigin {
  const { message_taken: messageTaken, sequence, request } = row;
  return { messageTaken, sequence, ...(request ?? { credentialId: null, actingMember: null }) };
}

/** What was decided upon: an approval, and what the admins of its organization had decided. */
export interface Basis {
  readonly record: Pick<StoredApproval, 'id' | 'organizationId' | 'version'>;
  readonly sequence: bigint;
}

function lockedAdmins(db: Db | Tx, organizationId: string): NamedStatement {
  const sql = 'SELECT organization_id FROM admin_sets WHERE organization_id = ? FOR SHARE';
  return { name: 'admins', statement: db.raw(sql, [organizationId]) };
}

/** Raises a serialization failure where the guard has no row. */
const REQUIRE_UNCHANGED = 'require_unchanged(EXISTS (SELECT FROM unchanged))';

/**
 * Guards a change (`updateApproval`) by what it was decided upon: locks the admins, then the organization and the
 * approval, and has no row where one has changed since it was read.
 */
export function unchangedSince(
  db: Db | Tx,
  { record: { id, organizationId, version }, sequence }: Basis,
): Guard {
  const unchanged = db.raw(
    `SELECT FROM admins JOIN organizations o ON o.id = admins.organization_id
      JOIN approvals a ON a.organization_id = o.id
      WHERE a.id = ? AND a.version = ? AND o.projected_sequence = ?::bigint FOR SHARE OF o FOR UPDATE OF a`,
    [id, version, String(sequence)],
  );
  return [lockedAdmins(db, organizationId), { name: 'unchanged', statement: unchanged }];
}

/**
 * Locks what was read, as `lockApproval` does; false where it has changed since. Call it as the first of a transaction.
 */
export async function lockUnchanged(tx: Tx, basis: Basis): Promise<boolean> {
  const locked: { unchanged: boolean }[] = await together(
    tx.select(tx.raw('EXISTS (SELECT FROM unchanged) AS unchanged')),
    unchangedSince(tx, basis),
  );
  return requireRow(locked[0]).unchanged;
}

/** Statements of which one is named `unchanged`: without a row of it nothing is changed. */
export type Guard = readonly NamedStatement[];

const SERIALIZATION_FAILURE = '40001';

/** Runs `work`, which makes a guarded change; undefined where the guard has no row, and nothing is written. */
export async function unlessChanged<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code === SERIALIZATION_FAILURE) return undefined;
    throw error;
  }
}

// The admins come first, always: an execution that changes them goes on to change other approvals. The CTE is read
// before the row that it is joined to is locked.
function lockStatement(name: string, admins: 'FOR SHARE' | 'FOR UPDATE'): PreparedStatement {
  return {
    name,
    text: `WITH admins AS MATERIALIZED (
        SELECT organization_id FROM admin_sets WHERE organization_id = $1 ${admins}
      )
      SELECT 1 FROM admins JOIN approvals ON approvals.organization_id = admins.organization_id
      WHERE approvals.id = $2
      FOR UPDATE OF approvals`,
  };
}
const LOCK = lockStatement('lock_approval', 'FOR SHARE');
const LOCK_ORGANIZATION = lockStatement('lock_organization_and_approval', 'FOR UPDATE');

/**
 * Locks an approval, and its organization's admins, people and policies against change, until the end of the database
 * transaction. With `exclusive` no other execution of the organization runs meanwhile. False when there is none. Read it
 * afterwards, in a statement of its own: one that has waited for a lock still sees the rest as it was before.
 */
export async function lockApproval(
  tx: Tx,
  { organizationId, id }: ApprovalKey,
  options: { exclusive?: boolean | undefined } = {},
): Promise<boolean> {
  const locked = await runPrepared(tx, options.exclusive ? LOCK_ORGANIZATION : LOCK, [organizationId, id]);
  return locked.length > 0;
}

/** The state that the creation of an approval depends on, apart from its content. */
export interface CreationRequest {
  /** Its stored body, and the credential that sent it; undefined when there is no such request. */
  readonly request:
    | {
        readonly path: string;
        readonly body: JsonValue;
        readonly credentialId: string;
        /** What MAX_OPEN_PER_KEY counts for: an API key, or the member in a session. */
        readonly createdBy: string;
        /** Who acts for it; null when none of its members is left. */
        readonly actingMember: MemberSummary | null;
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
    | (Pick<IdempotencyRequestRow, 'path' | 'body' | 'credential_id'> & {
        readonly created_by: string;
        readonly acting_member: MemberSummary | null;
      })
    | { readonly credential_id: null }
  );

const READ_CREATION: PreparedStatement = {
  name: 'creation_request',
  text: `SELECT r.path, r.body, r.credential_id, r.created_by, ${actingMemberColumn('r.credential_id')} AS acting_member, ${timeColumn},
      EXISTS (SELECT FROM approvals WHERE organization_id = $1 AND id = $2) AS created,
      EXISTS (SELECT FROM sealed_states WHERE organization_id = $1) AS admitted,
      (SELECT projected_sequence FROM organizations WHERE id = $1) AS sequence,
      (SELECT count(*)::integer FROM approvals
        WHERE organization_id = $1 AND created_by = r.created_by AND closed_at IS NULL) AS open
    FROM (SELECT) AS always
    LEFT JOIN (SELECT q.path, q.body, q.credential_id, coalesce(s.member_id, q.credential_id) AS created_by
        FROM idempotency_requests q LEFT JOIN sessions s ON s.id = q.credential_id
        WHERE q.organization_id = $1 AND q.resource_id = $2 AND q.id = $3 AND q.method = 'POST') r ON true`,
};

/** Reads the stored request to create an approval, with the state that it depends on, in one statement. */
export async function readCreationRequest(
  db: Db | Tx,
  key: ApprovalKey & { readonly requestId?: string | undefined },
): Promise<CreationRequest> {
  const values = [key.organizationId, key.id, uuidOrNull(key.requestId)];
  const row = requireRow((await runPrepared<CreationColumns>(db, READ_CREATION, values))[0]);
  return {
    request:
      row.credential_id === null
        ? undefined
        : {
            path: row.path,
            body: row.body,
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
  readonly names: readonly string[];
  readonly notes?: readonly Note[];
  readonly expiresAt: Date;
  readonly createdBy: string | null;
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
    names: approval.names,
    notes: JSON.stringify(approval.notes ?? []),
    expires_at: approval.expiresAt,
    created_by: approval.createdBy,
    position: approval.position,
  });
}

/** A claim that another open approval already has. */
export interface TakenClaim {
  readonly claim: string;
  /** The approval that has it. */
  readonly heldBy: string;
}

/** In one order for everybody, so that nobody waits for each other. */
function inOrder(claims: readonly string[]): string[] {
  return [...new Set(claims)].sort();
}

/** Takes claims for an approval; an error where another open one has one of them. */
function insertClaims(db: Db | Tx, { organizationId, id }: ApprovalKey, claims: readonly string[]) {
  const rows = inOrder(claims).map((claim) => ({ organization_id: organizationId, claim, approval_id: id }));
  return rows.length === 0 ? [] : [db('claims').insert(rows)];
}

const UNIQUE_VIOLATION = '23505';

function isClaimTaken(error: unknown): boolean {
  const { code, table } = error as { code?: unknown; table?: unknown };
  return code === UNIQUE_VIOLATION && table === 'claims';
}

/** The first of claims that an open approval has. */
async function findTaken(
  db: Db,
  organizationId: string,
  claims: readonly string[],
): Promise<TakenClaim | undefined> {
  const holder = await db('claims')
    .where({ organization_id: organizationId })
    .whereIn('claim', inOrder(claims))
    .orderByRaw('claim COLLATE "C"')
    .first('claim', 'approval_id');
  return holder && { claim: holder.claim, heldBy: holder.approval_id };
}

/**
 * Stores a new record with `along`, and takes its claims, in one statement. Returns the claim that another open approval
 * has; or that nothing was stored, because the admins have decided something since `sequence` was read, or the claim is
 * free again.
 */
export async function storeApproval(
  db: Db,
  { id, organizationId, claims, sequence }: ApprovalKey & { claims: readonly string[]; sequence: bigint },
  along: readonly Along[],
): Promise<'stored' | TakenClaim | undefined> {
  const unchanged = db.raw(
    `SELECT FROM admins JOIN organizations o ON o.id = admins.organization_id
      WHERE o.projected_sequence = ?::bigint FOR SHARE OF o`,
    [String(sequence)],
  );
  const guard = [lockedAdmins(db, organizationId), { name: 'unchanged', statement: unchanged }];
  const stored = db.select(db.raw(REQUIRE_UNCHANGED));
  try {
    const taking = insertClaims(db, { organizationId, id }, claims);
    return await unlessChanged(async () => {
      // The last one is executed first: claims are waited for before the head of the audit log is locked.
      await together(stored, [...guard, ...along, ...taking]);
      return 'stored' as const;
    });
  } catch (error) {
    if (!isClaimTaken(error)) throw error;
    return findTaken(db, organizationId, claims);
  }
}

/** Releases the claims of an approval. */
export function releaseClaims(tx: Db | Tx, id: string): Statement {
  return tx('claims').where({ approval_id: id }).delete();
}

/** Changes of the shared part of a record. */
export interface ApprovalChange {
  readonly executionStatus?: ApprovalRecord['executionStatus'];
  readonly executionAttempt?: number;
  /** Begins the execution of a decision. */
  readonly begun?: { readonly decision: Decision; readonly by: Actor; readonly with: Tally };
  readonly waitingFor?: string | null;
  readonly failure?: Failure | null;
  readonly notes?: readonly Note[];
  readonly result?: object | null;
  readonly expired?: true;
  /** Freezes the tally and closes the record. */
  readonly closedWith?: Tally;
  /** Freezes the tally at expiry, while a partly executed one may still be finished. */
  readonly frozen?: Tally;
  /** Reopens it: the chain has lost its block. */
  readonly reopened?: true;
}

/**
 * Changes a record and counts its version up, with other statements in the same round trip. Returns what the record is
 * then, apart from its votes. The end of an execution is announced after the commit. One that is not locked needs a
 * guard: call it inside `unlessChanged`, outside of a database transaction.
 */
export async function updateApproval(
  db: Db | Tx,
  id: string,
  change: ApprovalChange,
  along: readonly Along[] = [],
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
      ...(change.begun
        ? {
            decision: change.begun.decision,
            decided_by: json(change.begun.by),
            executed_with: json(change.begun.with),
          }
        : {}),
      ...(change.waitingFor === undefined ? {} : { waiting_for: change.waitingFor }),
      ...(change.failure === undefined ? {} : { failure: json(change.failure) }),
      ...(change.notes ? { notes: JSON.stringify(change.notes) } : {}),
      ...(change.result === undefined ? {} : { result: json(change.result) }),
      ...(change.expired ? { expired_at: now } : {}),
      ...(change.frozen ? { frozen: json(change.frozen) } : {}),
      ...(change.closedWith ? { frozen: json(change.closedWith), closed_at: now } : {}),
      ...(change.reopened ? { frozen: null, closed_at: null } : {}),
    })
    .returning(Object.keys(OWN));
  if (guard.length > 0) update.whereRaw(REQUIRE_UNCHANGED);
  const [row]: ApprovalRow[] = await together(update, [...guard, ...along]);
  if (executionStatus !== undefined && executionStatus !== 'processing') announceEndAfterCommit(db, id);
  const changed = requireRow(row);
  return { ...ownPart(changed), result: changed.result };
}

/** A vote as it is first stored. */
export interface NewVote {
  readonly memberId: string;
  readonly type: VoteType;
  readonly signerAddress: string;
  readonly scheme: StoredVote['scheme'];
  readonly signature: string;
  readonly signatureHash: string;
  readonly initiatorSignatureHash: string | null;
  readonly reason: string | null;
  readonly credentialId: string | null;
}

/** Stores a vote. Its message and a change of the record belong with it. */
export function insertVote(tx: Db | Tx, id: string, vote: NewVote): Statement {
  return tx('votes').insert({
    approval_id: id,
    member_id: vote.memberId,
    type: vote.type,
    signer_address: vote.signerAddress,
    scheme: vote.scheme,
    signature: vote.signature,
    signature_hash: vote.signatureHash,
    initiator_signature_hash: vote.initiatorSignatureHash,
    reason: vote.reason,
    credential_id: vote.credentialId,
  });
}

/** Records a new message in the transaction of its effect. */
export function insertMessage(
  tx: Db | Tx,
  id: string,
  messageId: string,
  kind: 'sign' | 'execute' | 'restore' | 'cancel',
): Statement {
  return tx('received_messages').insert({ approval_id: id, message_id: messageId, kind });
}

/** True when a message with this id has had its effect on that approval. */
export async function isMessageReceived(db: Db | Tx, id: string, messageId: string): Promise<boolean> {
  const received = await db('received_messages')
    .where({ approval_id: id, message_id: messageId })
    .first('message_id');
  return received !== undefined;
}

/** The id of the message with which a restarted run records itself. */
export function restoredMessageId(runId: string): string {
  return `restored/${runId}`;
}

/** The proof of one outcome: the payload, the signatures over it, and who was eligible. */
export interface Evidence {
  readonly resolution: 'approved' | 'rejected';
  readonly payload: string;
  readonly votes: readonly StoredVote[];
  readonly threshold: number;
  /** The admins, or the policy with its members and groups. */
  readonly electorate: JsonValue;
}

/** Stores the proof of an outcome, append-only. */
export function insertEvidence(
  tx: Db | Tx,
  { organizationId, id }: ApprovalKey,
  { resolution, payload, votes, threshold, electorate }: Evidence,
): Statement {
  return tx('evidence').insert({
    organization_id: organizationId,
    approval_id: id,
    resolution,
    payload,
    signatures: JSON.stringify(
      votes.map(({ memberId, type, signerAddress, scheme, signature }) => ({
        memberId,
        type,
        signerAddress,
        scheme,
        signature,
      })),
    ),
    threshold,
    electorate: canonicalJson(electorate),
  });
}
