import type { Db, Tx } from '../../db/database';
import { execute, queryRows } from '../../db/rows';
import { storedTerms } from '../../db/searchTerms';
import { transactionSearchTerms } from '../../db/transactions';
import type { Actor } from '../../domain/actor';
import type { Decision, Tally } from '../../domain/approval';
import type { JournaledRecord } from '../../domain/journaledRecord';
import type { DecisionSeal } from '../../domain/seal';
import { PARTS, type Part } from './journaledRecords';

/** Writes back the record of a proposal that was sealed: its execution continues from its seal. */
export async function writeSealedProposal(
  tx: Tx,
  seal: DecisionSeal,
  execution: { readonly decision: Decision; readonly by: Actor; readonly with: Tally },
): Promise<void> {
  const { proposalId: id, organizationId, summary, resourceType, action, data, expiresAt, at } = seal;
  const executionStart = {
    execution_status: 'processing' as const,
    decision: execution.decision,
    decided_by: JSON.stringify(execution.by),
    executed_with: JSON.stringify(execution.with),
    failure: null,
    closed_at: null,
    frozen: null,
  };
  await tx('approvals')
    .insert({
      id,
      subject: 'proposal',
      organization_id: organizationId,
      summary,
      created_at: new Date(at),
      expires_at: new Date(expiresAt),
      position: 0,
      ...executionStart,
    })
    .onConflict('id')
    .merge({ ...executionStart, version: tx.raw('approvals.version + 1') });
  await tx('proposals')
    .insert({
      ...{ id, resource_type: resourceType, action, data: JSON.stringify(data) },
      terms: storedTerms(tx, organizationId, { texts: [id, summary] }),
    })
    .onConflict('id')
    .ignore();
}

/** Stores the votes of a sealed proposal, each with the hash of its signature, where they are missing. */
export async function writeSealedVotes(
  tx: Tx,
  { proposalId, votes, at }: DecisionSeal,
  type: Decision,
  hashOf: (signature: string) => string,
): Promise<void> {
  if (votes.length === 0) return;
  await tx('votes')
    .insert(
      votes.map(({ memberId, signerAddress, scheme, signature }) => ({
        approval_id: proposalId,
        member_id: memberId,
        type,
        signer_address: signerAddress,
        scheme,
        signature,
        signature_hash: hashOf(signature),
        created_at: new Date(at),
      })),
    )
    .onConflict()
    .ignore();
}

/** The request that expires last; undefined where there is none. */
export async function latestExpiry(
  db: Db | Tx,
): Promise<{ readonly id: string; readonly expiresAt: Date } | undefined> {
  const row = await db('approvals').orderBy('expires_at', 'desc').first('id', 'expires_at');
  return row && { id: row.id, expiresAt: row.expires_at };
}

/** What is open: transactions, and proposals that are not decided; oldest first. */
export async function openRequests(
  db: Db | Tx,
): Promise<{ readonly id: string; readonly organizationId: string; readonly expiresAt: Date }[]> {
  const rows = await db('approvals')
    .whereNull('closed_at')
    .whereNotExists(db('seals').whereRaw('seals.proposal_id = approvals.id'))
    .orderBy('created_at')
    .select('id', 'organization_id', 'expires_at');
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    expiresAt: row.expires_at,
  }));
}

/** Of the request that created an approval. */
const OF_ITS_REQUEST = ['idempotency_key', 'request_hash'];

/** SQL: such a column of `r`; null where another approval was created with the same key meanwhile. */
const unlessTaken = (column: string) => `CASE WHEN NOT EXISTS (SELECT FROM approvals x
  WHERE x.organization_id = r.organization_id AND x.idempotency_key = r.idempotency_key AND x.id <> r.id)
  THEN r.${column} END`;

/** SQL: a column of `r`, as it is written. */
function writtenSql(table: string, column: string): string {
  if (table === 'approvals' && OF_ITS_REQUEST.includes(column)) return unlessTaken(column);
  // What it replaces may be lost.
  if (table === 'transactions' && column === 'replaces')
    return '(SELECT t.id FROM transactions t WHERE t.id = r.replaces)';
  return `r.${column}`;
}

/** The columns of a table that ever change: what is signed never does. */
async function changingColumns(tx: Tx, table: string): Promise<string[]> {
  const rows = await queryRows<{ name: string }>(
    tx,
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped
        AND has_column_privilege('orgwallet_service', attrelid, attnum, 'UPDATE')
      ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Rows of a part as JSON text, under the names of its columns. */
function rowsOf({ columns }: Part, records: readonly object[]): string {
  const rows = records.map((record) =>
    Object.fromEntries(
      Object.entries(record).map(([field, value]) => {
        const column = columns[field] ?? field;
        return [column, column === 'request_hash' && value !== null ? `\\x${value}` : value];
      }),
    ),
  );
  return JSON.stringify(rows);
}

/** Inserts rows of a part; `onConflict`: SQL of what becomes of one that is there, which is otherwise left as it is. */
async function insertRows(
  tx: Tx,
  part: Part,
  records: readonly object[],
  { more = {}, onConflict }: { more?: Readonly<Record<string, string>>; onConflict?: string } = {},
): Promise<void> {
  const { table, columns, same } = part;
  const written = Object.values(columns);
  const values = [...written.map((column) => writtenSql(table, column)), ...Object.values(more)];
  const isThere = `SELECT 1 FROM ${table} x
    WHERE ${same.map((name) => `x.${name} IS NOT DISTINCT FROM r.${name}`).join(' AND ')}`;
  await execute(
    tx,
    `INSERT INTO ${table} (${[...written, ...Object.keys(more)].join(', ')})
      SELECT ${values.join(', ')} FROM jsonb_populate_recordset(NULL::${table}, ?::jsonb) r
      ${onConflict ?? `WHERE NOT EXISTS (${isThere})`}`,
    [rowsOf(part, records)],
  );
}

/**
 * Writes back the record of a transaction, as the journal has it: an open one becomes what it was then; votes, evidence and
 * usage are added where they are missing. Its position is for its audit entry to give.
 */
export async function writeJournaledRecord(tx: Tx, record: JournaledRecord): Promise<void> {
  const { approval, transaction, votes, evidence, usage } = PARTS;
  const own = Object.values(approval.columns);
  const changed = (await changingColumns(tx, approval.table)).filter(
    (name) => own.includes(name) && name !== 'version',
  );
  await insertRows(tx, approval, [record.approval], {
    more: { subject: "'transaction'", position: '0' },
    onConflict: `ON CONFLICT (id) DO UPDATE SET version = approvals.version + 1,
      ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  });
  await insertRows(tx, transaction, [record.transaction], {
    more: { position: '0', organization_id: '(SELECT a.organization_id FROM approvals a WHERE a.id = r.id)' },
  });
  const { organizationId, summary } = record.approval;
  await tx('transactions')
    .where({ id: record.transaction.id })
    .update({ terms: transactionSearchTerms(tx, { ...record.transaction, organizationId, summary }) });
  await insertRows(tx, votes, record.votes);
  await insertRows(tx, evidence, record.evidence);
  await insertRows(tx, usage, record.usage);
}
