import { createHash } from 'node:crypto';
import type { Actor } from '../domain/actor';
import { canonicalJson, type JsonValue } from '../domain/canonicalJson';
import type { Db, Tx } from './database';
import { newId } from './ids';
import { executeTogether, queryRows, requireRow, type Statement } from './rows';
import type { AuditHeadRow, AuditLogRow } from './tables';

/** The service itself, for timers and repairs. */
export const SYSTEM: Actor = { type: 'system', id: 'system', name: 'orgwallet', walletAddress: '' };
/** An operator of the installation, through the CLI or the Temporal UI. */
export const OPERATOR: Actor = { type: 'operator', id: 'operator', name: 'operator', walletAddress: '' };

/** One state change, to be recorded with it. */
export interface AuditInput {
  /** `<resource>.<verb>` in the past, such as `proposal.signed`. */
  readonly action: string;
  readonly actor: Actor;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: { readonly [key: string]: JsonValue };
}

/** A recorded entry. Its hash covers all other fields and the hash of the entry before it. */
export interface AuditEntry extends AuditInput {
  readonly id: string;
  readonly organizationId: string;
  readonly position: bigint;
  readonly createdAt: Date;
  readonly previousHash: string;
  readonly hash: string;
}

/** The `previousHash` of an organization's first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/** SHA-256 (hex) over the canonical JSON (RFC 8785) of an entry's content, its position and its predecessor's hash. */
export function auditHash(entry: Omit<AuditEntry, 'hash'>): string {
  const content = {
    id: entry.id,
    organizationId: entry.organizationId,
    position: entry.position.toString(),
    action: entry.action,
    actor: entry.actor,
    resourceType: entry.resourceType,
    resourceId: entry.resourceId,
    details: entry.details,
    createdAt: entry.createdAt.toISOString(),
    previousHash: entry.previousHash,
  };
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/** Entries that are to be appended, and their positions. */
export interface PreparedAudit {
  readonly statements: readonly Statement[];
  readonly positions: readonly bigint[];
}

/**
 * Locks the head of an organization's chain, and prepares what appends entries to it: execute it in the same transaction
 * with the change that they record, before anything else is appended. The head stays locked until commit, so only that is
 * left to do: positions follow the order of commit.
 */
export async function prepareAudit(
  tx: Tx,
  organizationId: string,
  entries: readonly AuditInput[],
): Promise<PreparedAudit> {
  if (entries.length === 0) return { statements: [], positions: [] };
  // The clock is read once the head is locked, so that times increase along the chain.
  const [head] = await queryRows<Pick<AuditHeadRow, 'position' | 'hash'> & { now: Date }>(
    tx,
    `WITH head AS MATERIALIZED (SELECT position, hash FROM audit_heads WHERE organization_id = ? FOR UPDATE)
     SELECT *, date_trunc('milliseconds', clock_timestamp()) AS now FROM head`,
    [organizationId],
  );
  if (!head) throw new Error(`organization ${organizationId} has no audit head`);
  const createdAt = head.now;
  let { position, hash: previousHash } = head;
  const recorded = entries.map((input) => {
    position += 1n;
    const entry = { ...input, id: newId('log'), organizationId, position, createdAt, previousHash };
    previousHash = auditHash(entry);
    return { ...entry, hash: previousHash };
  });
  const appended = tx('audit_log').insert(
    recorded.map((entry) => ({
      organization_id: organizationId,
      position: entry.position,
      id: entry.id,
      action: entry.action,
      actor: JSON.stringify(entry.actor),
      resource_type: entry.resourceType,
      resource_id: entry.resourceId,
      details: JSON.stringify(entry.details),
      created_at: entry.createdAt,
      previous_hash: entry.previousHash,
      hash: entry.hash,
    })),
  );
  const moved = tx('audit_heads')
    .where({ organization_id: organizationId })
    .update({ position, hash: previousHash });
  return { statements: [moved, appended], positions: recorded.map((entry) => entry.position) };
}

/** Appends entries in the transaction of the change that they record, as the last of it. Returns their positions. */
export async function appendAudit(
  tx: Tx,
  organizationId: string,
  entries: readonly AuditInput[],
): Promise<readonly bigint[]> {
  const { statements, positions } = await prepareAudit(tx, organizationId, entries);
  await executeTogether(statements);
  return positions;
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

/** The matching entries, newest first. */
export async function listAudit(db: Db | Tx, filter: AuditFilter): Promise<AuditEntry[]> {
  const query = db('audit_log')
    .where({ organization_id: filter.organizationId })
    .orderBy('position', 'desc')
    .limit(filter.limit);
  if (filter.resourceType !== undefined) query.where('resource_type', filter.resourceType);
  if (filter.resourceId !== undefined) query.where('resource_id', filter.resourceId);
  if (filter.action !== undefined) query.where('action', filter.action);
  if (filter.from !== undefined) query.where('created_at', '>=', filter.from);
  if (filter.to !== undefined) query.where('created_at', '<', filter.to);
  if (filter.before !== undefined) query.where('position', '<', filter.before);
  return (await query).map(auditEntry);
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
