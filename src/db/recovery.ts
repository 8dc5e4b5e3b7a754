import type { Tally } from '../domain/approval';
import { type DecisionSeal, decisionOf } from '../domain/seal';
import { OPERATOR } from './audit';
import type { Db, Tx } from './database';
import { execute, queryRows } from './rows';

/** How the rows of a transaction are recognized, and what of them is not taken over as it is. */
const TABLES = {
  transactions: {
    same: ['id'],
    own: {
      replaces: '(SELECT t.id FROM transactions t WHERE t.id = r.replaces)',
      // Absent in older lines of the journal.
      reopenings: 'coalesce(r.reopenings, 0)',
    },
  },
  votes: { same: ['approval_id', 'member_id', 'type', 'signature_hash'], own: {} },
  evidence: { same: ['approval_id', 'created_at'], own: {} },
  policy_usage: { same: ['transaction_id', 'reserved_at'], own: {} },
} as const;

/** Of the request that created an approval. */
const OF_ITS_REQUEST = ['idempotency_key', 'request_hash'];

/** SQL: such a column of `r`; null where another approval was created with the same key meanwhile. */
const unlessTaken = (column: string) => `CASE WHEN NOT EXISTS (SELECT FROM approvals x
  WHERE x.organization_id = r.organization_id AND x.idempotency_key = r.idempotency_key AND x.id <> r.id)
  THEN r.${column} END`;

/** The columns of a table that can be written. */
async function writableColumns(tx: Tx, table: string): Promise<string[]> {
  const rows = await queryRows<{ name: string }>(
    tx,
    `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ? AND is_identity = 'NO' AND is_generated = 'NEVER'
      ORDER BY ordinal_position`,
    [table],
  );
  return rows.map(({ name }) => name);
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

/**
 * Writes back the rows of a transaction's record, as `transactionRows` has read them: an open record becomes what it was
 * then; votes, evidence and usage are added where they are missing.
 */
export async function writeTransactionRows(tx: Tx, rows: string): Promise<void> {
  const columns = await writableColumns(tx, 'approvals');
  const changed = (await changingColumns(tx, 'approvals')).filter(
    (name) => !['position', 'version'].includes(name),
  );
  await execute(
    tx,
    `INSERT INTO approvals AS a (${columns.join(', ')})
      SELECT ${columns.map((name) => (OF_ITS_REQUEST.includes(name) ? unlessTaken(name) : `r.${name}`)).join(', ')}
      FROM jsonb_populate_recordset(NULL::approvals, ?::jsonb -> 'approvals') r
      ON CONFLICT (id) DO UPDATE SET version = a.version + 1,
        ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [rows],
  );
  for (const [table, { same, own }] of Object.entries(TABLES)) {
    const written = await writableColumns(tx, table);
    const values: Readonly<Record<string, string>> = own;
    await execute(
      tx,
      `INSERT INTO ${table} (${written.join(', ')})
        SELECT ${written.map((name) => values[name] ?? `r.${name}`).join(', ')}
        FROM jsonb_populate_recordset(NULL::${table}, ?::jsonb -> '${table}') r
        WHERE NOT EXISTS (SELECT 1 FROM ${table} x
          WHERE ${same.map((name) => `x.${name} IS NOT DISTINCT FROM r.${name}`).join(' AND ')})`,
      [rows],
    );
  }
}

/** Writes back the record of a proposal that was sealed: its execution continues from its seal. */
export async function writeSealedProposal(tx: Tx, seal: DecisionSeal, executedWith: Tally): Promise<void> {
  const { proposalId: id, organizationId, summary, resourceType, action, data, expiresAt, at } = seal;
  const begun = {
    execution_status: 'processing' as const,
    decision: decisionOf(seal),
    decided_by: JSON.stringify(OPERATOR),
    executed_with: JSON.stringify(executedWith),
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
      ...begun,
    })
    .onConflict('id')
    .merge({ ...begun, version: tx.raw('approvals.version + 1') });
  await tx('proposals')
    .insert({ id, resource_type: resourceType, action, data: JSON.stringify(data) })
    .onConflict('id')
    .ignore();
}

/** Stores the votes of a sealed proposal, each with the hash of its signature, where they are missing. */
export async function writeSealedVotes(
  tx: Tx,
  seal: DecisionSeal,
  hashOf: (signature: string) => string,
): Promise<void> {
  const { proposalId, votes, at } = seal;
  if (votes.length === 0) return;
  await tx('votes')
    .insert(
      votes.map(({ memberId, signerAddress, scheme, signature }) => ({
        approval_id: proposalId,
        member_id: memberId,
        type: decisionOf(seal),
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

/** The transactions that the signer has recorded as rejected. */
export function rejectedTransactions(db: Db | Tx): Promise<string[]> {
  return db('authorizations').where({ outcome: 'rejected' }).pluck('transaction_id');
}

/** The transactions that have a cancellation. */
export async function cancelledTransactions(db: Db | Tx): Promise<string[]> {
  const ids = await db('chain_attempts').where({ kind: 'cancellation' }).pluck('transaction_id');
  return ids.flatMap((id) => id ?? []);
}

/** How far the decisions of each organization go. */
export async function sealedSequences(db: Db | Tx): Promise<ReadonlyMap<string, number>> {
  const rows = await db('sealed_states').select('organization_id', 'sequence');
  return new Map(rows.map((row) => [row.organization_id, Number(row.sequence)]));
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
