import type { JsonValue } from '../domain/canonicalJson';
import type { Db, Tx } from './database';
import { execute, queryNumbered, queryRows } from './rows';
import type { IdempotencyRequestRow } from './tables';

/** How long a lease lasts after its owner has last renewed it. */
const LEASE_MS = 5_000;

/** The stored response, replayed byte for byte. */
export interface StoredAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly location: string | null;
}

/** A stored mutation request. */
export interface StoredRequest {
  /** Its id everywhere: first update id in Temporal, message id in the database. */
  readonly id: string;
  readonly credentialId: string;
  readonly requestHash: Buffer;
  readonly resourceId: string;
  readonly createdAt: Date;
  /** True while its lease lasts. */
  readonly leased: boolean;
  readonly answer: StoredAnswer | null;
}

/** A proposal or transaction that has the key of the request that created it, whose response is not stored any more. */
export interface CreatedWith {
  readonly approvalId: string;
  readonly requestHash: Buffer;
}

type AnswerColumns = Pick<IdempotencyRequestRow, 'status' | 'response_body' | 'location'>;
type RequestColumns = AnswerColumns &
  Pick<IdempotencyRequestRow, 'id' | 'credential_id' | 'request_hash' | 'resource_id' | 'created_at'> & {
    readonly leased: boolean;
  };

function storedAnswer({ status, response_body: body, location }: AnswerColumns): StoredAnswer | null {
  return status === null || body === null ? null : { status, body, location };
}

function stored(row: RequestColumns): StoredRequest {
  return {
    id: row.id,
    credentialId: row.credential_id,
    requestHash: row.request_hash,
    resourceId: row.resource_id,
    createdAt: row.created_at,
    leased: row.leased,
    answer: storedAnswer(row),
  };
}

/** A request, or only the approval that has its key. */
type FoundColumns =
  | RequestColumns
  | { readonly id: null; readonly approval_id: string; readonly request_hash: Buffer };

function found(row: FoundColumns): StoredRequest | CreatedWith {
  return row.id === null ? { approvalId: row.approval_id, requestHash: row.request_hash } : stored(row);
}

const seconds = (ms: number) => ms / 1_000;

/** SQL: whether the response of the answered request `r` is not kept any more. */
const isOutdated = (retention: string) => `r.answered_at <= now() - make_interval(secs => ${retention})`;

const FIND = `SELECT asked.scoped_key, r.id, r.credential_id, r.resource_id, r.created_at,
      r.status, r.response_body, r.location, r.lease_until > now() AS leased,
      coalesce(r.request_hash, a.request_hash) AS request_hash, a.id AS approval_id
    FROM (SELECT scoped_key, split_part(scoped_key, '/', 1) AS organization_id, split_part(scoped_key, '/', 2)::uuid AS key
      FROM unnest($1::text[]) AS scoped_key) asked
    LEFT JOIN idempotency_requests r ON r.organization_id = asked.organization_id AND r.key = asked.key
      AND (${isOutdated('$2')}) IS NOT TRUE
    LEFT JOIN approvals a ON a.organization_id = asked.organization_id AND a.idempotency_key = asked.key
    WHERE r.id IS NOT NULL OR a.id IS NOT NULL`;

/** Organization and X-Idempotency-Key as one text. */
export function scopedKey(organizationId: string, key: string): string {
  return `${organizationId}/${key}`;
}

/**
 * What has each scoped key, by those: a request until its response is past its retention, then the proposal or transaction
 * that it has created, if it has created one.
 */
export async function findRequests(
  db: Db,
  scopedKeys: readonly string[],
  retentionMs: number,
): Promise<ReadonlyMap<string, StoredRequest | CreatedWith>> {
  const rows = await queryNumbered<FoundColumns & { readonly scoped_key: string }>(db, FIND, [
    scopedKeys,
    seconds(retentionMs),
  ]);
  return new Map(rows.map((row) => [row.scoped_key, found(row)]));
}

/** A new request, with the id of the resource that it will create or change. */
interface NewRequest {
  readonly organizationId: string;
  readonly key: string;
  readonly credentialId: string;
  readonly method: string;
  readonly path: string;
  readonly requestHash: Buffer;
  readonly body: JsonValue;
  readonly resourceId: string;
  readonly leaseOwner: string;
  readonly retentionMs: number;
  /** Present when a check has already answered the request. */
  readonly answer?: StoredAnswer;
}

const INSERT = `WITH outdated AS (
      DELETE FROM idempotency_requests r WHERE organization_id = $1 AND key = $2 AND ${isOutdated('$3')} RETURNING 1
    )
    INSERT INTO idempotency_requests (organization_id, key, credential_id, method, path, request_hash, body,
      resource_id, lease_owner, lease_until, status, response_body, location, answered_at)
    SELECT $1, $2, $4, $5, $6, $7::bytea, $8::jsonb, $9, $10::uuid, now() + make_interval(secs => $11),
      $12::integer, $13::text, $14::text, CASE WHEN $12::integer IS NULL THEN NULL ELSE now() END
    FROM (SELECT count(*) FROM outdated) AS after_deletion
    WHERE NOT EXISTS (SELECT FROM approvals WHERE organization_id = $1 AND idempotency_key = $2)
    ON CONFLICT (organization_id, key) DO NOTHING RETURNING id, created_at`;

/** Remembers a request and leases it to its owner. Undefined when another request, or an approval, has the key. */
export async function insertRequest(
  db: Db | Tx,
  request: NewRequest,
): Promise<Pick<StoredRequest, 'id' | 'createdAt'> | undefined> {
  const { answer } = request;
  const [row] = await queryNumbered<Pick<IdempotencyRequestRow, 'id' | 'created_at'>>(db, INSERT, [
    request.organizationId,
    request.key,
    seconds(request.retentionMs),
    request.credentialId,
    request.method,
    request.path,
    request.requestHash,
    JSON.stringify(request.body),
    request.resourceId,
    request.leaseOwner,
    seconds(LEASE_MS),
    answer?.status ?? null,
    answer?.body ?? null,
    answer?.location ?? null,
  ]);
  return row && { id: row.id, createdAt: row.created_at };
}

/**
 * Takes over a request whose lease has ended, for the credential that sends it again: that is checked where it takes effect.
 * False when it is answered, deleted or leased.
 */
export async function takeOverRequest(
  db: Db | Tx,
  request: { id: string; leaseOwner: string; credentialId: string },
): Promise<boolean> {
  const taken = await execute(
    db,
    `UPDATE idempotency_requests SET lease_owner = ?, credential_id = ?, lease_until = now() + make_interval(secs => ?)
     WHERE id = ? AND answered_at IS NULL AND lease_until <= now()`,
    [request.leaseOwner, request.credentialId, seconds(LEASE_MS), request.id],
  );
  return taken === 1;
}

/** Renews the leases of owners that are alive. */
export async function renewLeases(db: Db | Tx, leaseOwners: readonly string[]): Promise<void> {
  await db.raw(
    `UPDATE idempotency_requests SET lease_until = now() + make_interval(secs => ?)
     WHERE lease_owner = ANY(?::uuid[]) AND answered_at IS NULL`,
    [seconds(LEASE_MS), [...leaseOwners]],
  );
}

/** Releases an unanswered request: a repeat takes it over at once. */
export async function releaseRequest(
  db: Db | Tx,
  request: { id: string; leaseOwner: string },
): Promise<void> {
  await db.raw(
    'UPDATE idempotency_requests SET lease_until = now() WHERE id = ? AND lease_owner = ? AND answered_at IS NULL',
    [request.id, request.leaseOwner],
  );
}

/** Deletes a request that was refused without effect: its key is free again. */
export async function forgetRequest(db: Db | Tx, request: { id: string; leaseOwner: string }): Promise<void> {
  await db('idempotency_requests')
    .where({ id: request.id, lease_owner: request.leaseOwner, answered_at: null })
    .delete();
}

/** SQL: whether the effect of the request `r` is in the database: what it has created, its message, or its registration. */
const isEffectKnown = `(EXISTS (SELECT FROM approvals a WHERE a.id = r.resource_id AND a.idempotency_key = r.key)
      OR EXISTS (SELECT FROM received_messages m WHERE m.approval_id = r.resource_id AND m.message_id = r.id::text)
      OR EXISTS (SELECT FROM registration_challenges c WHERE c.nonce = r.resource_id AND c.used_by = r.id))`;

const ANSWER = `UPDATE idempotency_requests r SET status = $2, response_body = $3, location = $4, answered_at = now()
    WHERE id = $1 AND answered_at IS NULL AND ($2 >= 300 OR ${isEffectKnown})
    RETURNING id`;

/**
 * Stores the answer of a request and returns the one that counts: the first that was stored. Undefined for a success whose
 * request or effect the database does not have any more: a failover has lost it.
 */
export async function answerRequest(
  db: Db | Tx,
  id: string,
  answer: StoredAnswer,
): Promise<StoredAnswer | undefined> {
  const rows = await queryNumbered(db, ANSWER, [id, answer.status, answer.body, answer.location]);
  if (rows.length === 1) return answer;
  const row = await db('idempotency_requests').where({ id }).first();
  const first = row && storedAnswer(row);
  if (first) return first;
  return answer.status >= 300 ? answer : undefined;
}

/**
 * Locks a request until the end of the transaction that has its effect. Returns the answer that it has already; null where it has
 * none, undefined where the database has lost the request.
 */
export async function lockRequest(tx: Tx, id: string): Promise<StoredAnswer | null | undefined> {
  const row = await tx('idempotency_requests').where({ id }).forUpdate().first();
  return row && storedAnswer(row);
}

/** Stores the answer of a locked request, in the transaction of its effect: both are in the database, or neither is. */
export async function answerLocked(tx: Tx, id: string, answer: StoredAnswer): Promise<void> {
  await tx('idempotency_requests').where({ id }).update({
    status: answer.status,
    response_body: answer.body,
    location: answer.location,
    answered_at: tx.fn.now(),
  });
}

/** A request that nobody works on any more, and that has no answer. */
export interface UnansweredRequest {
  readonly organizationId: string;
  readonly method: string;
  readonly path: string;
  readonly createdAt: Date;
  /** Whether its effect is in the database. */
  readonly hasEffect: boolean;
}

const MAX_UNANSWERED = 100;

/** Unanswered requests whose lease has ended more than `seconds` ago, the oldest first; at most 100. */
export function findUnanswered(db: Db | Tx, forSeconds: number): Promise<UnansweredRequest[]> {
  return queryRows<UnansweredRequest>(
    db,
    `SELECT organization_id AS "organizationId", method, path, created_at AS "createdAt", ${isEffectKnown} AS "hasEffect"
     FROM idempotency_requests r
     WHERE answered_at IS NULL AND lease_until < now() - make_interval(secs => ?)
     ORDER BY r.created_at LIMIT ?`,
    [forSeconds, MAX_UNANSWERED],
  );
}

const UNANSWERED_KEPT_DAYS = 7;
const SWEPT_AT_ONCE = 5_000;

/**
 * Deletes requests that were answered longer ago than the retention, in small steps; unanswered ones a week later. Their keys
 * stay with what they have created. Returns how many.
 */
export async function sweepRequests(db: Db | Tx, retentionMs: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const now = await sweepSome(db, retentionMs);
    deleted += now;
    if (now < SWEPT_AT_ONCE) return deleted;
  }
}

async function sweepSome(db: Db | Tx, retentionMs: number): Promise<number> {
  return execute(
    db,
    `DELETE FROM idempotency_requests WHERE id IN (
       SELECT id FROM idempotency_requests
       WHERE created_at <= now() - make_interval(secs => ?)
         AND coalesce(answered_at, created_at + make_interval(days => ?)) <= now() - make_interval(secs => ?)
       ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [seconds(retentionMs), UNANSWERED_KEPT_DAYS, seconds(retentionMs), SWEPT_AT_ONCE],
  );
}
