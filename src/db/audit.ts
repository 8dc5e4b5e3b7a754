import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Actor } from '../domain/actor';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { AuditAction } from '../domain/eventTypes';
import { GENESIS_HASH } from '../domain/feedCursor';
import { noteAppended } from './appended';
import type { Db, Tx } from './database';
import { newId } from './ids';
import {
  combineStatements,
  executeBatch,
  type NamedStatement,
  queryRows,
  requireRow,
  type Statement,
} from './rows';
import type { AuditLogRow } from './tables';

/** One state change, to be recorded with it. */
export interface AuditInput {
  readonly action: AuditAction;
  readonly actor: Actor;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: { readonly [key: string]: JsonValue };
}

/** A recorded entry. Its hash covers all other fields and the hash of the entry before it. */
export interface AuditEntry extends Omit<AuditInput, 'action'> {
  /** Of this build's, or of a newer one's. */
  readonly action: string;
  readonly id: string;
  readonly organizationId: string;
  readonly position: bigint;
  readonly createdAt: Date;
  readonly previousHash: string;
  readonly hash: string;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** SHA-256 (hex) of the canonical JSON (RFC 8785) of what an entry says, whatever its place in the chain. */
function contentHash(entry: Omit<AuditEntry, 'position' | 'createdAt' | 'previousHash' | 'hash'>): string {
  const { id, organizationId, action, actor, resourceType, resourceId, details } = entry;
  return sha256(canonicalJson({ id, organizationId, action, actor, resourceType, resourceId, details }));
}

/**
 * SHA-256 (hex) of `<hash of its predecessor> <position> <ms since 1970> <hash of its content>`; the database computes the
 * same (see `auditStatements`).
 */
export function auditHash(entry: Omit<AuditEntry, 'hash'>): string {
  const { previousHash, position, createdAt } = entry;
  return sha256(`${previousHash} ${position} ${createdAt.getTime()} ${contentHash(entry)}`);
}

/** Begins the chain of a new organization. */
export async function beginAudit(tx: Tx, organizationId: string): Promise<void> {
  await tx('audit_heads').insert({ organization_id: organizationId, position: 0, hash: GENESIS_HASH });
}

/** The position of the first appended entry, as an expression of the statement that appends it. */
export function appendedPosition(db: Db | Tx): Knex.Raw {
  return db.raw('(SELECT min(position) FROM audit_appended)');
}

/**
 * Entries to append to the chain of an organization: execute them `combineStatements` with the change that they record, as the last
 * statement of its transaction. They lock the head of the chain until commit: positions follow the order of commit.
 */
export function auditStatements(
  tx: Db | Tx,
  organizationId: string,
  entries: readonly AuditInput[],
): readonly NamedStatement[] {
  if (entries.length === 0) return [];
  noteAppended(tx, organizationId);
  const rows = entries.map((input, n) => {
    const id = newId('log');
    const { action, actor, resourceType, resourceId, details } = input;
    const hashed = contentHash({ ...input, id, organizationId });
    return { n: n + 1, id, action, actor, resourceType, resourceId, details, contentHash: hashed };
  });
  const named = (name: string, sql: string, bindings: readonly Knex.RawBinding[] = []): NamedStatement => ({
    name,
    statement: tx.raw(sql, bindings),
  });
  return [
    named(
      'audit_head',
      'SELECT position, hash, created_at FROM audit_heads WHERE organization_id = ? FOR UPDATE',
      [organizationId],
    ),
    // The clock is read once the head is locked, and does not count while it is behind the last entry, so that times never
    // decrease along the chain. Without a head nothing is stored: its position is null, which the table refuses.
    named(
      'audit_start',
      `SELECT o.organization_id, h.position, h.hash,
        greatest(date_trunc('milliseconds', clock_timestamp()), h.created_at) AS now
      FROM (VALUES (?)) AS o (organization_id) LEFT JOIN audit_head h ON true`,
      [organizationId],
    ),
    named(
      'audit_entries',
      `SELECT n, id, action, actor, "resourceType", "resourceId", details, "contentHash"
      FROM jsonb_to_recordset(?::jsonb) AS e (n integer, id text, action text, actor jsonb,
        "resourceType" text, "resourceId" text, details jsonb, "contentHash" text)`,
      [JSON.stringify(rows)],
    ),
    named(
      'audit_chain',
      `SELECT 0 AS n, position, now, hash AS previous_hash, hash FROM audit_start
      UNION ALL
      SELECT e.n, c.position + 1, c.now, c.hash, encode(sha256(convert_to(concat_ws(' ', c.hash, c.position + 1,
        (extract(epoch FROM c.now) * 1000)::bigint, e."contentHash"), 'UTF8')), 'hex')
      FROM audit_chain c JOIN audit_entries e ON e.n = c.n + 1`,
    ),
    named(
      'audit_moved',
      `UPDATE audit_heads h SET position = c.position, hash = c.hash, created_at = c.now FROM audit_chain c
      WHERE h.organization_id = ? AND c.n = ?`,
      [organizationId, rows.length],
    ),
    named(
      'audit_appended',
      `INSERT INTO audit_log (organization_id, position, id, action, actor, resource_type, resource_id, details,
        created_at, previous_hash, hash)
      SELECT s.organization_id, c.position, e.id, e.action, e.actor, e."resourceType", e."resourceId", e.details,
        c.now, c.previous_hash, c.hash
      FROM audit_start s, audit_chain c JOIN audit_entries e USING (n) ORDER BY c.n
      RETURNING position`,
    ),
  ];
}

/**
 * Appends entries in the transaction of the change that they record, as the last of it and with other statements in the
 * same round trip. Returns their positions.
 */
export async function appendAudit(
  tx: Tx,
  organizationId: string,
  entries: readonly AuditInput[],
  batch: readonly Statement[] = [],
): Promise<readonly bigint[]> {
  if (entries.length === 0) {
    await executeBatch(batch);
    return [];
  }
  const appended = tx.select<{ position: bigint }[]>('position').from('audit_appended').orderBy('position');
  const rows: { position: bigint }[] = await combineStatements(appended, [
    ...batch,
    ...auditStatements(tx, organizationId, entries),
  ]);
  return rows.map(({ position }) => position);
}

/** The filter of an audit log. */
export interface AuditFilter {
  readonly organizationId: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly action?: string;
  /** Inclusive. */
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
  /** Only entries before this position. */
  readonly before?: bigint;
  readonly limit: number;
}

function auditEntry(row: AuditLogRow): AuditEntry {
  return {
    id: row.id,
    organizationId: row.organization_id,
    position: row.position,
    action: row.action,
    actor: row.actor,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    details: row.details,
    createdAt: row.created_at,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

/**
 * A page of the matching entries, newest first, that ends before `limit` when their details together are more than so many
 * bytes; and whether there are more. It has one at least, if there is one.
 */
export async function pageOfAudit(
  db: Db | Tx,
  filter: AuditFilter,
  maxDetailBytes: number,
): Promise<{ entries: AuditEntry[]; hasMore: boolean }> {
  const matching = db('audit_log')
    .where({ organization_id: filter.organizationId })
    .orderBy('position', 'desc')
    .limit(filter.limit + 1);
  if (filter.resourceType !== undefined) matching.where('resource_type', filter.resourceType);
  if (filter.resourceId !== undefined) matching.where('resource_id', filter.resourceId);
  if (filter.action !== undefined) matching.where('action', filter.action);
  if (filter.from !== undefined) matching.where('created_at', '>=', filter.from);
  if (filter.to !== undefined) matching.where('created_at', '<', filter.to);
  if (filter.before !== undefined) matching.where('position', '<', filter.before);
  const counted = db.raw(`SELECT position, row_number() OVER newest AS n,
      sum(octet_length(details::text)) OVER newest AS upto, (count(*) OVER ())::integer AS found
    FROM matching WINDOW newest AS (ORDER BY position DESC)`);
  const rows: (AuditLogRow & { readonly found: number })[] = await db
    .with('matching', matching)
    .with('counted', counted)
    .select('matching.*', 'counted.found')
    .from('matching')
    .join('counted', 'counted.position', 'matching.position')
    .whereRaw('n = 1 OR (n <= ? AND upto <= ?)', [filter.limit, maxDetailBytes])
    .orderBy('matching.position', 'desc');
  return { entries: rows.map(auditEntry), hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** True for a resource that an organization has or had: its log names it, or it is the one set of admins. */
export async function isResourceKnown(
  db: Db | Tx,
  key: { organizationId: string; resourceId: string },
): Promise<boolean> {
  const [row] = await queryRows<{ known: boolean }>(
    db,
    `SELECT EXISTS (SELECT FROM audit_log WHERE organization_id = :organizationId AND resource_id = :resourceId)
      OR EXISTS (SELECT FROM admin_sets WHERE organization_id = :organizationId AND id = :resourceId) AS known`,
    key,
  );
  return requireRow(row).known;
}

/** The result of verifying an organization's chain. */
export type AuditProof =
  | { readonly ok: true; readonly entries: bigint; readonly hash: string }
  | { readonly ok: false; readonly position: bigint; readonly id: string | null; readonly reason: string };

const VERIFY_PAGE = 1_000;

/**
 * Walks an organization's chain from its first entry and names the first entry that does not fit. It sees the log as it
 * was at one moment, so that entries written meanwhile break nothing.
 */
export async function verifyAudit(db: Db, organizationId: string): Promise<AuditProof> {
  return db.transaction((tx) => walkChain(tx, organizationId), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

async function* entriesInOrder(tx: Tx, organizationId: string): AsyncGenerator<AuditEntry> {
  for (let after = 0n; ; ) {
    const rows = await tx('audit_log')
      .where({ organization_id: organizationId })
      .where('position', '>', String(after))
      .orderBy('position')
      .limit(VERIFY_PAGE);
    yield* rows.map(auditEntry);
    if (rows.length < VERIFY_PAGE) return;
    after = requireRow(rows.at(-1)).position;
  }
}

type ChainEnd = Pick<AuditEntry, 'position' | 'hash'>;

/** Why an entry does not continue the chain; undefined when it does. */
function breakBetween(end: ChainEnd, entry: AuditEntry): string | undefined {
  const position = end.position + 1n;
  if (entry.position !== position) return `entry ${position} is missing before it`;
  if (entry.previousHash !== end.hash) return 'it does not continue the hash of the entry before it';
  if (auditHash(entry) !== entry.hash) return 'its content does not have its hash';
  return undefined;
}

async function walkChain(tx: Tx, organizationId: string): Promise<AuditProof> {
  let end: ChainEnd = { position: 0n, hash: GENESIS_HASH };
  for await (const entry of entriesInOrder(tx, organizationId)) {
    const reason = breakBetween(end, entry);
    if (reason !== undefined) return { ok: false, position: entry.position, id: entry.id, reason };
    end = entry;
  }
  const { position, hash } = end;
  const head = await tx('audit_heads').where({ organization_id: organizationId }).first();
  if (!head || head.position !== position || head.hash !== hash) {
    return {
      ok: false,
      position: position + 1n,
      id: null,
      reason: `the chain ends at ${position} and its head says ${head?.position ?? 'nothing'}: entries at the end are missing`,
    };
  }
  return { ok: true, entries: position, hash };
}
