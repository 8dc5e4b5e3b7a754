import type { Db, Tx } from './database';
import { type Columns, columnsOf } from './rows';
import type { ChainAttemptRow, ChainEnvelopeRow, RelayerReservationRow } from './tables';

/** A signed transaction of a relayer. Amounts are in wei. */
export interface Envelope {
  readonly id: bigint;
  readonly attemptId: bigint;
  readonly networkId: number;
  readonly relayerAddress: string;
  readonly relayerNonce: number;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly transactionHash: string;
  readonly rawTransaction: string;
  readonly createdAt: Date;
  readonly outcome: ChainEnvelopeRow['outcome'];
  /** Read with the envelope, to record its first broadcast; null: it was sent before. */
  readonly unsent?: UnsentEnvelope | null;
}

/** What the chain transaction of an envelope cost its relayer, and in which block. Null: the node does not say it. */
export interface EnvelopeFee {
  readonly gasUsed: bigint | null;
  /** In wei, of one gas. */
  readonly gasPrice: bigint | null;
  /** In wei. */
  readonly dataFee: bigint | null;
  readonly blockNumber: bigint;
  readonly blockAt: Date;
}

/** The newest envelope that is undecided, or undefined. */
export function undecidedEnvelope(envelopes: readonly Envelope[]): Envelope | undefined {
  return envelopes.filter(({ outcome }) => outcome === null).at(-1);
}

/** An envelope that is not sent, with what the record of its broadcast depends on. */
export interface UnsentEnvelope {
  readonly kind: ChainAttemptRow['kind'];
  readonly organizationId: string | null;
  readonly networkId: number;
  readonly transactionId: string | null;
  readonly safeNonce: string | null;
  readonly transactionHash: string;
  readonly relayerAddress: string;
  /** Another envelope of the same attempt was sent. */
  readonly sentBefore: boolean;
  /** Of the transaction; null where it carries none. */
  readonly version: number | null;
  readonly sequence: string | null;
}

/** A nonce of a relayer with its terms: what an envelope and its reservation share. */
export type EnvelopeNonce = Pick<
  Envelope,
  | 'id'
  | 'attemptId'
  | 'networkId'
  | 'relayerAddress'
  | 'relayerNonce'
  | 'gas'
  | 'maxFeePerGas'
  | 'maxPriorityFeePerGas'
>;

/** What is read of a reservation: what an envelope shares with it. */
export type ReservationRow = Omit<RelayerReservationRow, 'reserved_at'>;

/** What is read of an envelope. */
export type EnvelopeRow = Omit<ChainEnvelopeRow, 'reservation_id' | 'sent_at' | 'decided_at'>;

const NONCE_COLUMNS: Columns<ReservationRow> = {
  id: true,
  attempt_id: true,
  network_id: true,
  relayer_address: true,
  relayer_nonce: true,
  gas: true,
  max_fee_per_gas: true,
  max_priority_fee_per_gas: true,
};

/** The columns of a reservation that are read. */
export const reservationColumns = (alias: string) => columnsOf(alias, NONCE_COLUMNS);

/** The columns of an envelope that are read. */
export const envelopeColumns = (alias: string) =>
  columnsOf<EnvelopeRow>(alias, {
    ...NONCE_COLUMNS,
    transaction_hash: true,
    raw_transaction: true,
    created_at: true,
    outcome: true,
  });

/** The nonce and terms in a row of an envelope or of a reservation. */
export function toEnvelopeNonce(row: ReservationRow): EnvelopeNonce {
  return {
    id: row.id,
    attemptId: row.attempt_id,
    networkId: Number(row.network_id),
    relayerAddress: row.relayer_address,
    relayerNonce: Number(row.relayer_nonce),
    gas: BigInt(row.gas),
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
  };
}

/** A signed transaction as it is stored. */
export function toEnvelope(row: EnvelopeRow): Envelope {
  return {
    ...toEnvelopeNonce(row),
    transactionHash: row.transaction_hash,
    rawTransaction: row.raw_transaction,
    createdAt: row.created_at,
    outcome: row.outcome,
  };
}

/** The envelope `e` as one JSON value, each column as text. */
export const envelopeJson = `json_build_object('id', e.id::text, 'attempt_id', e.attempt_id::text,
    'network_id', e.network_id::text, 'relayer_address', e.relayer_address, 'relayer_nonce', e.relayer_nonce::text,
    'gas', e.gas::text, 'max_fee_per_gas', e.max_fee_per_gas::text,
    'max_priority_fee_per_gas', e.max_priority_fee_per_gas::text, 'transaction_hash', e.transaction_hash,
    'raw_transaction', e.raw_transaction, 'created_at', e.created_at, 'outcome', e.outcome)`;

/** What `envelopeColumn` reads. */
export interface EnvelopeJson {
  readonly id: string;
  readonly attempt_id: string;
  readonly network_id: string;
  readonly relayer_address: string;
  readonly relayer_nonce: string;
  readonly gas: string;
  readonly max_fee_per_gas: string;
  readonly max_priority_fee_per_gas: string;
  readonly transaction_hash: string;
  readonly raw_transaction: string;
  readonly created_at: string;
  readonly outcome: ChainEnvelopeRow['outcome'];
}

/** The envelope that `envelopeColumn` read. */
export function envelopeFromJson(column: EnvelopeJson): Envelope {
  return toEnvelope({
    ...column,
    id: BigInt(column.id),
    attempt_id: BigInt(column.attempt_id),
    network_id: BigInt(column.network_id),
    relayer_nonce: BigInt(column.relayer_nonce),
    created_at: new Date(column.created_at),
  });
}

/** Names one account on one network. */
export interface AccountOnNetwork {
  readonly accountId: string;
  readonly networkId: number;
}

/** All envelopes to deploy an account on a network, oldest first. */
export async function deploymentEnvelopes(db: Db | Tx, key: AccountOnNetwork): Promise<Envelope[]> {
  const rows = await db('chain_envelopes')
    .join('chain_attempts', 'chain_attempts.id', 'chain_envelopes.attempt_id')
    .where('chain_attempts.kind', 'deployment')
    .where('chain_attempts.account_id', key.accountId)
    .where('chain_attempts.network_id', key.networkId)
    .orderBy('chain_envelopes.id')
    .select<EnvelopeRow[]>(envelopeColumns('chain_envelopes'));
  return rows.map(toEnvelope);
}

/** How many envelopes of a relayer are read at once. */
export const MAX_ENVELOPES_READ = 200;

/** The newest envelope of each nonce of a relayer in a range, lowest nonce first; at most `MAX_ENVELOPES_READ`. */
export async function newestEnvelopes(
  db: Db,
  range: { networkId: number; relayerAddress: string; fromNonce: number; toNonce: number },
): Promise<Envelope[]> {
  const rows = await db('chain_envelopes')
    .distinctOn('relayer_nonce')
    .where({ network_id: BigInt(range.networkId), relayer_address: range.relayerAddress })
    .whereBetween('relayer_nonce', [range.fromNonce, range.toNonce])
    .orderBy([{ column: 'relayer_nonce' }, { column: 'id', order: 'desc' }])
    // The limit is in the text, so that this is prepared: its index is used, whatever the nonces.
    .limit(MAX_ENVELOPES_READ, { skipBinding: true })
    .select<EnvelopeRow[]>(envelopeColumns('chain_envelopes'));
  return rows.map(toEnvelope);
}
