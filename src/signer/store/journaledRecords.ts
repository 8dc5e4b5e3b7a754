import type { Db, Tx } from '../../db/database';
import { execute, queryRows, requireRow } from '../../db/rows';
import type {
  ApprovalRow,
  CreationColumns,
  EvidenceRow,
  PolicyUsageRow,
  TransactionRow,
  VoteRow,
} from '../../db/tables';
import type {
  JournaledApproval,
  JournaledEvidence,
  JournaledRecord,
  JournaledTransaction,
  JournaledUsage,
  JournaledVote,
} from '../../domain/journaledRecord';

/** The column of each field of the journal: what a migration renames, it renames here, and no line of a journal. */
type ColumnsOf<Fields, Row> = Readonly<Record<keyof Fields & string, keyof Row & string>>;

const APPROVAL: ColumnsOf<JournaledApproval, ApprovalRow & CreationColumns> = {
  ...{ id: 'id', organizationId: 'organization_id', summary: 'summary', names: 'names' },
  ...{ createdAt: 'created_at', updatedAt: 'updated_at', expiresAt: 'expires_at', version: 'version' },
  ...{ createdBy: 'created_by', idempotencyKey: 'idempotency_key', requestHash: 'request_hash' },
  ...{ executionStatus: 'execution_status', executionAttempt: 'execution_attempt' },
  ...{ decision: 'decision', decidedBy: 'decided_by', executedWith: 'executed_with' },
  ...{ waitingFor: 'waiting_for', failure: 'failure', notes: 'notes', result: 'result' },
  ...{ expiredAt: 'expired_at', closedAt: 'closed_at', finalTally: 'frozen' },
};

const TRANSACTION: ColumnsOf<JournaledTransaction, TransactionRow> = {
  ...{ id: 'id', accountId: 'account_id', networkId: 'network_id', policyId: 'policy_id' },
  ...{ initiatorId: 'initiator_id', description: 'description', type: 'type', to: 'to_address' },
  ...{ value: 'value', calldata: 'calldata', content: 'content', replaces: 'replaces' },
  ...{ awaitsRelayerWei: 'awaits_relayer_wei', cancelling: 'cancelling', reopenings: 'reopenings' },
};

const VOTE: ColumnsOf<JournaledVote, VoteRow> = {
  ...{ approvalId: 'approval_id', memberId: 'member_id', type: 'type' },
  ...{ signerAddress: 'signer_address', scheme: 'scheme', signature: 'signature' },
  ...{ signatureHash: 'signature_hash', initiatorSignatureHash: 'initiator_signature_hash' },
  ...{ reason: 'reason', credentialId: 'credential_id', createdAt: 'created_at' },
};

const EVIDENCE: ColumnsOf<JournaledEvidence, EvidenceRow> = {
  ...{ organizationId: 'organization_id', approvalId: 'approval_id', resolution: 'resolution' },
  ...{ payload: 'payload', signatures: 'signatures', threshold: 'threshold', electorate: 'electorate' },
  ...{ createdAt: 'created_at' },
};

const USAGE: ColumnsOf<JournaledUsage, PolicyUsageRow> = {
  ...{ organizationId: 'organization_id', policyId: 'policy_id', transactionId: 'transaction_id' },
  ...{ networkId: 'network_id', tokenAddress: 'token_address', amount: 'amount' },
  ...{ initiatorId: 'initiator_id', accountId: 'account_id', destination: 'destination' },
  ...{ status: 'status', reservedAt: 'reserved_at', blockAt: 'block_at', decidedAt: 'decided_at' },
};

/** A part of a record in its table. */
interface Part {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The column that names the transaction. */
  readonly of: string;
  /** By which columns a row is recognized that is there already. */
  readonly same: readonly string[];
}

/** What a record is of, in the order in which it is written. */
export const PARTS: Readonly<Record<keyof JournaledRecord, Part>> = {
  approval: { table: 'approvals', columns: APPROVAL, of: 'id', same: ['id'] },
  transaction: { table: 'transactions', columns: TRANSACTION, of: 'id', same: ['id'] },
  votes: {
    table: 'votes',
    columns: VOTE,
    of: 'approval_id',
    same: ['approval_id', 'member_id', 'type', 'signature_hash'],
  },
  evidence: {
    table: 'evidence',
    columns: EVIDENCE,
    of: 'approval_id',
    same: ['approval_id', 'created_at'],
  },
  usage: {
    table: 'policy_usage',
    columns: USAGE,
    of: 'transaction_id',
    same: ['transaction_id', 'reserved_at'],
  },
};

/** SQL of a field: no number loses a digit, and bytes are hex. */
function fieldSql(column: string): string {
  if (['value', 'amount', 'awaits_relayer_wei'].includes(column)) return `r.${column}::text`;
  return column === 'request_hash' ? `encode(r.${column}, 'hex')` : `r.${column}`;
}

function partSql({ table, columns, of }: Part): string {
  const fields = Object.entries(columns).map(([field, column]) => `'${field}', ${fieldSql(column)}`);
  const object = `jsonb_build_object(${fields.join(', ')})`;
  const value = of === 'id' ? object : `coalesce(jsonb_agg(${object} ORDER BY r.id), '[]')`;
  return `(SELECT ${value} FROM ${table} r WHERE r.${of} = ?)`;
}

const RECORD_SQL = `SELECT jsonb_build_object(
  ${Object.entries(PARTS)
    .map(([name, part]) => `'${name}', ${partSql(part)}`)
    .join(', ')})::text AS record`;

/** The record of a transaction as the journal keeps it; undefined where there is none. */
export async function readJournaledRecord(
  db: Db | Tx,
  transactionId: string,
): Promise<JournaledRecord | undefined> {
  const [row] = await queryRows<{ record: string }>(
    db,
    RECORD_SQL,
    Object.keys(PARTS).map(() => transactionId),
  );
  const record = JSON.parse(requireRow(row).record);
  return record.approval && record.transaction ? record : undefined;
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
  await insertRows(tx, transaction, [record.transaction]);
  await insertRows(tx, votes, record.votes);
  await insertRows(tx, evidence, record.evidence);
  await insertRows(tx, usage, record.usage);
}
