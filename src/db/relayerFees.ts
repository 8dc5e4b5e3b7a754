import type { Knex } from 'knex';
import type { PaidFees } from '../domain/transaction';
import type { Db, Tx } from './database';
import type { Envelope, EnvelopeFee } from './envelopes';
import { FEE_SUMS } from './feeSums';
import { type NamedStatement, queryRows, type Statement } from './rows';
import type { RelayerFeeRow } from './tables';

const RECORD = `INSERT INTO relayer_fees (envelope_id, organization_id, kind, account_id, transaction_id, policy_id,
      network_id, relayer_address, block_number, block_at, gas_used, gas_price, data_fee)
    SELECT ?::bigint, c.organization_id, c.kind, c.account_id, c.transaction_id, t.policy_id,
      c.network_id, ?::text, ?::bigint, ?::timestamptz, ?::numeric, ?::numeric, ?::numeric
    FROM chain_attempts c LEFT JOIN transactions t ON t.id = c.transaction_id WHERE c.id = ?::bigint
    ON CONFLICT (envelope_id) DO UPDATE SET block_number = excluded.block_number, block_at = excluded.block_at,
      gas_used = excluded.gas_used, gas_price = excluded.gas_price, data_fee = excluded.data_fee`;

const decimal = (amount: bigint | null) => (amount === null ? null : String(amount));

/** Records what an envelope cost; what was recorded of an earlier block is replaced. */
export function recordFee(
  db: Db | Tx,
  { id, attemptId, relayerAddress }: Envelope,
  { gasUsed, gasPrice, dataFee, blockNumber, blockAt }: EnvelopeFee,
): NamedStatement & { readonly statement: Knex.Raw } {
  const amounts = [gasUsed, gasPrice, dataFee].map(decimal) as Knex.RawBinding[];
  const values = [String(id), relayerAddress, String(blockNumber), blockAt, ...amounts, String(attemptId)];
  return { name: `fee_${id}`, statement: db.raw(RECORD, values) };
}

/** Forgets what an envelope cost: the chain has lost its block. */
export function forgetFee(db: Db | Tx, envelopeId: bigint): Statement {
  return db('relayer_fees').where({ envelope_id: envelopeId }).delete();
}

/** Which fees are summed. */
interface FeeFilter {
  readonly organizationId: string;
  /** In blocks of this time or later. */
  readonly from?: Date;
  /** In blocks before this time. */
  readonly to?: Date;
  readonly accountId?: string;
  readonly policyId?: string;
  readonly networkId?: number;
  /** Only sums behind this one. */
  readonly after?: FeeKey;
  readonly limit: number;
}

/** What is summed together. */
export interface FeeKey {
  /** `2025-06`, by the time of the block, UTC. */
  readonly month: string;
  readonly networkId: number;
  readonly kind: RelayerFeeRow['kind'];
  readonly accountId: string | null;
  readonly policyId: string | null;
}

/** What relayers have paid for one account under one policy on one network in one month. */
export interface FeeRow extends FeeKey, PaidFees {}

const MONTH = `to_char(f.block_at AT TIME ZONE 'UTC', 'YYYY-MM')`;
/** Behind every id: what has no account, or no policy, is last. */
const NONE = '~';
/** The order of sums within a month, which is the same in every database. */
const PLACE = [
  'f.network_id',
  ...['account_id', 'policy_id'].map((id) => `coalesce(f.${id}, '${NONE}')`),
  'f.kind',
]
  .map((column, index) => (index === 0 ? column : `${column} COLLATE "C"`))
  .join(', ');

/** Sums of fees per month, network, account, policy and kind, the newest month first. */
export async function sumFees(
  db: Db | Tx,
  { organizationId, from, to, accountId, policyId, networkId, after, limit }: FeeFilter,
): Promise<FeeRow[]> {
  const conditions: readonly (readonly [sql: string, ...values: Knex.Value[]] | undefined)[] = [
    ['f.organization_id = ?', organizationId],
    from && ['f.block_at >= ?', from],
    to && ['f.block_at < ?', to],
    accountId === undefined ? undefined : ['f.account_id = ?', accountId],
    policyId === undefined ? undefined : ['f.policy_id = ?', policyId],
    networkId === undefined ? undefined : ['f.network_id = ?', networkId],
    after && [
      `(${MONTH} < ? OR (${MONTH} = ? AND (${PLACE}) > (?::bigint, ?, ?, ?)))`,
      ...[after.month, after.month, after.networkId],
      ...[after.accountId ?? NONE, after.policyId ?? NONE, after.kind],
    ],
  ];
  const given = conditions.filter((one) => one !== undefined);
  type Row = Omit<FeeRow, 'networkId'> & { readonly networkId: string };
  const rows = await queryRows<Row>(
    db,
    `SELECT ${MONTH} AS "month", f.network_id AS "networkId", f.kind,
        f.account_id AS "accountId", f.policy_id AS "policyId", ${FEE_SUMS}
      FROM relayer_fees f WHERE ${given.map(([sql]) => sql).join(' AND ')}
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, ${PLACE} LIMIT ?`,
    [...given.flatMap(([, ...values]) => values), limit],
  );
  return rows.map((row) => ({ ...row, networkId: Number(row.networkId) }));
}
