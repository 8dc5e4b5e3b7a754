import type { Db, Tx } from '../../db/database';
import { queryNumbered, requireRow } from '../../db/rows';
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
export interface Part {
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

function partSql({ table, columns, of }: Part, transactionId: string): string {
  const fields = Object.entries(columns).map(([field, column]) => `'${field}', ${fieldSql(column)}`);
  const object = `jsonb_build_object(${fields.join(', ')})`;
  const value = of === 'id' ? object : `coalesce(jsonb_agg(${object} ORDER BY r.id), '[]')`;
  return `(SELECT ${value} FROM ${table} r WHERE r.${of} = ${transactionId})`;
}

/** What `journaledColumn` reads. */
export interface JournaledColumn {
  /** JSON text. */
  readonly record: string;
}

/** SQL: the record of a transaction as the journal keeps it, as one JSON text. */
export function journaledColumn(transactionId: string): string {
  const parts = Object.entries(PARTS).map(([name, part]) => `'${name}', ${partSql(part, transactionId)}`);
  return `jsonb_build_object(${parts.join(', ')})::text AS record`;
}

/** The record that `journaledColumn` read; undefined where there is none. */
export function journaledIn({ record: text }: JournaledColumn): JournaledRecord | undefined {
  const record = JSON.parse(text);
  return record.approval && record.transaction ? record : undefined;
}

const JOURNALED = `SELECT ${journaledColumn('$1')}`;

/** The record of a transaction as the journal keeps it; undefined where there is none. */
export async function readJournaledRecord(
  db: Db | Tx,
  transactionId: string,
): Promise<JournaledRecord | undefined> {
  const [row] = await queryNumbered<JournaledColumn>(db, JOURNALED, [transactionId]);
  return journaledIn(requireRow(row));
}
