import type { Note, ProposalRecord } from '../domain/proposal';
import { RECORD_KINDS, type RecordRef, type Repairable } from '../domain/reconciliation';
import type { Db, Row, Tx } from './database';
import { databaseNow } from './database';
import { findProposal, lockProposal, messageWasTaken, readNow, updateProposal } from './proposals';
import {
  lockTransaction,
  readTransaction,
  transactionMessageWasTaken,
  updateTransaction,
} from './transactions';

/** What the reconciler has to know of an open record. */
export type OpenRecord = RecordRef & {
  readonly processing: boolean;
  /** By the database's clock, in milliseconds. */
  readonly ageMs: number;
  /** Since its record last changed, in milliseconds. */
  readonly unchangedMs: number;
  /** Networks that it names and the deployment does not have, as far as no note says so. */
  readonly goneNetworks: readonly number[];
};

const TABLES = { proposal: 'proposals', transaction: 'transactions' } as const;
const NETWORK_GONE = 'networkGone';
const PAGE = 1_000;

/** What a note about a network that is gone says. */
function networkGoneMessage(kind: RecordRef['kind'], networkId: number): string {
  return `this deployment no longer has the network ${networkId} that the ${kind} names: as long as it is missing, nothing can be done there. Reject it, or let it expire, unless the network comes back`;
}

function notYetNoted(
  kind: RecordRef['kind'],
  networkIds: readonly number[],
  notes: readonly Note[] | null,
): number[] {
  const noted = new Set(notes?.filter(({ code }) => code === NETWORK_GONE).map(({ message }) => message));
  return networkIds.filter((networkId) => !noted.has(networkGoneMessage(kind, networkId)));
}

function openRecord(kind: RecordRef['kind'], row: Row): OpenRecord {
  const gone: readonly string[] = row.gone ?? [];
  const networkIds = gone.map((name) => Number(name.slice('network:'.length)));
  const state = {
    organizationId: row.organization_id,
    id: row.id,
    processing: row.processing === true,
    ageMs: row.age_ms,
    unchangedMs: row.unchanged_ms,
    goneNetworks: notYetNoted(kind, networkIds, row.notes),
  };
  return kind === 'proposal'
    ? { kind, resourceType: row.resource_type, action: row.action, ...state }
    : { kind, ...state };
}

/** Every open record of every organization, a page at a time, in the order of their ids. */
export async function* openRecords(
  db: Db,
  networkIds: readonly number[],
): AsyncGenerator<readonly OpenRecord[]> {
  for (const kind of RECORD_KINDS) yield* openRecordsOf(db, kind, networkIds);
}

async function* openRecordsOf(
  db: Db,
  kind: RecordRef['kind'],
  networkIds: readonly number[],
): AsyncGenerator<readonly OpenRecord[]> {
  const known = networkIds.map((id) => `network:${id}`);
  for (let after = ''; ; ) {
    const { rows } = await db.raw<{ rows: Row[] }>(
      `SELECT id, organization_id, ${kind === 'proposal' ? 'resource_type, action,' : ''}
          execution_status = 'processing' AS processing,
          (extract(epoch FROM now() - created_at) * 1000)::float8 AS age_ms,
          (extract(epoch FROM now() - updated_at) * 1000)::float8 AS unchanged_ms,
          gone.names AS gone, CASE WHEN gone.names IS NOT NULL THEN notes END AS notes
        FROM ${TABLES[kind]}, LATERAL (
          SELECT array_agg(name) AS names FROM unnest(names) AS name
          WHERE name LIKE 'network:%' AND name <> ALL (?::text[])
        ) gone
        WHERE closed_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
      [known, after, PAGE],
    );
    if (rows.length > 0) yield rows.map((row) => openRecord(kind, row));
    if (rows.length < PAGE) return;
    after = rows.at(-1).id;
  }
}

/** How many records are open that were made at least so long ago, and when that was, by the database's clock. */
export async function countOpenRecords(
  db: Db,
  milliseconds: number,
): Promise<{ count: number; before: Date }> {
  const counts = RECORD_KINDS.map(
    (kind) => `(SELECT count(*) FROM ${TABLES[kind]} WHERE closed_at IS NULL AND created_at < before)`,
  );
  const { rows } = await db.raw<{ rows: { count: number; before: Date }[] }>(
    `SELECT (${counts.join(' + ')})::integer AS count, before
      FROM (SELECT now() - make_interval(secs => ?::float8 / 1000) AS before) AS time`,
    [milliseconds],
  );
  const [counted] = rows;
  if (!counted) throw new Error('the database counted nothing');
  return counted;
}

/** Those of the given records that have been closed for at least so long. */
export async function closedFor(db: Db, ids: readonly string[], milliseconds: number): Promise<string[]> {
  const closed = RECORD_KINDS.map(
    (kind) => `SELECT id FROM ${TABLES[kind]} WHERE id = ANY (?::text[])
      AND closed_at < now() - make_interval(secs => ?::float8 / 1000)`,
  );
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    closed.join(' UNION ALL '),
    RECORD_KINDS.flatMap(() => [[...ids], milliseconds]),
  );
  return rows.map(({ id }) => id);
}

/** A record as it is now, as far as its repair goes, with the time of the database; undefined when there is none. */
export async function readRepairable(
  db: Db,
  { kind, organizationId, id }: RecordRef,
): Promise<{ record: Repairable; time: Date } | undefined> {
  if (kind === 'transaction') {
    const found = await readTransaction(db, { organizationId, transactionId: id });
    return found && { record: found.record, time: found.now.time };
  }
  const record = await findProposal(db, organizationId, id);
  return record && { record, time: await databaseNow(db) };
}

/** The message under which a run that was started again records itself. */
export function restoredMessageId(runId: string): string {
  return `restored/${runId}`;
}

/** True when a run that was started again has recorded itself: its first act. */
export async function hasBegun(db: Db, { kind, id }: RecordRef, runId: string): Promise<boolean> {
  const taken = kind === 'proposal' ? messageWasTaken : transactionMessageWasTaken;
  return taken(db, restoredMessageId(runId), id);
}

/** How often the workflow of a record was started again in the last hour. */
export async function restoredLastHour(db: Db, { kind, organizationId, id }: RecordRef): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `SELECT count(*)::integer AS count FROM audit_log
      WHERE organization_id = ? AND resource_id = ? AND action = ?
        AND created_at > now() - interval '1 hour'`,
    [organizationId, id, `${kind}.restored`],
  );
  return rows[0]?.count ?? 0;
}

/** Locks a record until the end of the transaction. Whoever locks the admins too locks them first. */
async function lockRecord(
  tx: Tx,
  { kind, organizationId, id }: RecordRef,
): Promise<{ record: Pick<ProposalRecord, 'closed' | 'notes'>; time: Date } | undefined> {
  if (kind === 'transaction') {
    const found = await lockTransaction(tx, { organizationId, transactionId: id });
    return found && { record: found.record, time: found.now.time };
  }
  const { time } = await readNow(tx, organizationId, { lock: 'share' });
  const record = await lockProposal(tx, organizationId, id);
  return record && { record, time };
}

/** Says once on an open record that networks it names are gone. False when that has been said, or it is closed. */
export async function noteGoneNetworks(db: Db, record: OpenRecord): Promise<boolean> {
  const { kind, id, goneNetworks } = record;
  return db.transaction(async (tx) => {
    const locked = await lockRecord(tx, record);
    if (!locked || locked.record.closed) return false;
    const { notes } = locked.record;
    const missing = notYetNoted(kind, goneNetworks, notes);
    if (missing.length === 0) return false;
    const at = locked.time.toISOString();
    const added = missing.map((networkId) => ({
      at,
      code: NETWORK_GONE,
      message: networkGoneMessage(kind, networkId),
    }));
    const update = kind === 'proposal' ? updateProposal : updateTransaction;
    await update(tx, id, { notes: [...notes, ...added] });
    return true;
  });
}
