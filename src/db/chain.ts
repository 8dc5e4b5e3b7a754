import type { AccountDerivation } from '../domain/account';
import type { Db, Tx } from './database';
import { type Columns, columnsOf, requireRow, type Statement, together } from './rows';
import type { ChainAttemptRow, ChainEnvelopeRow, RelayerReservationRow } from './tables';

/** A key that pays for gas on a network. */
export interface Relayer {
  readonly networkId: number;
  readonly index: number;
  readonly address: string;
}

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

/** The newest envelope that is undecided, or undefined. */
export function undecidedEnvelope(envelopes: readonly Envelope[]): Envelope | undefined {
  return envelopes.filter(({ outcome }) => outcome === null).at(-1);
}

/** An envelope that is not sent, with what its broadcast is recorded upon. */
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
export function envelopeNonce(row: ReservationRow): EnvelopeNonce {
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
export function envelope(row: EnvelopeRow): Envelope {
  return {
    ...envelopeNonce(row),
    transactionHash: row.transaction_hash,
    rawTransaction: row.raw_transaction,
    createdAt: row.created_at,
    outcome: row.outcome,
  };
}

/** The envelope `e` as one JSON value, each column as text. */
export const envelopeColumn = `json_build_object('id', e.id::text, 'attempt_id', e.attempt_id::text,
    'network_id', e.network_id::text, 'relayer_address', e.relayer_address, 'relayer_nonce', e.relayer_nonce::text,
    'gas', e.gas::text, 'max_fee_per_gas', e.max_fee_per_gas::text,
    'max_priority_fee_per_gas', e.max_priority_fee_per_gas::text, 'transaction_hash', e.transaction_hash,
    'raw_transaction', e.raw_transaction, 'created_at', e.created_at, 'outcome', e.outcome)`;

/** What `envelopeColumn` reads. */
export interface EnvelopeColumn {
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
export function envelopeIn(column: EnvelopeColumn): Envelope {
  return envelope({
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

/** The derivation of an account's address, or undefined when it is not found. */
export async function findAccountDerivation(
  db: Db | Tx,
  organizationId: string,
  accountId: string,
): Promise<AccountDerivation | undefined> {
  const row = await db('accounts').where({ organization_id: organizationId, id: accountId }).first();
  return (
    row && {
      address: row.address,
      ownerAddress: row.owner_address,
      singleton: row.singleton,
      factory: row.factory,
      fallbackHandler: row.fallback_handler,
      initializer: row.initializer,
      saltNonce: row.salt_nonce,
    }
  );
}

/** Records the address of an organization's signing key. The first one is kept. */
export async function recordSigningKey(db: Db | Tx, organizationId: string, address: string): Promise<void> {
  await db('signing_keys')
    .insert({ organization_id: organizationId, address })
    .onConflict('organization_id')
    .ignore();
}

/** Any recorded signing key; undefined when there is none yet. */
export async function anySigningKey(
  db: Db | Tx,
): Promise<{ organizationId: string; address: string } | undefined> {
  const row = await db('signing_keys').first();
  return row && { organizationId: row.organization_id, address: row.address };
}

/** Records a relayer. */
export async function recordRelayer(db: Db | Tx, relayer: Relayer): Promise<void> {
  await db('relayers')
    .insert({ network_id: relayer.networkId, index: relayer.index, address: relayer.address })
    .onConflict(['network_id', 'index'])
    .merge(['address']);
}

/** The relayers of all networks, or of one. */
export async function listRelayers(db: Db | Tx, networkId?: number): Promise<Relayer[]> {
  const query = db('relayers').orderBy(['network_id', 'index']);
  if (networkId !== undefined) query.where({ network_id: BigInt(networkId) });
  return (await query).map((row) => ({
    networkId: Number(row.network_id),
    index: row.index,
    address: row.address,
  }));
}

/** The relayers that somebody has to keep funded: those that networks choose from, and others of what is undecided. */
export async function listRelayersInUse(
  db: Db,
  networks: readonly { readonly id: number; readonly relayers: number }[],
): Promise<Relayer[]> {
  const known = await listRelayers(db);
  // Nobody follows a filler: it has no outcome.
  const busy = await db('chain_envelopes as e')
    .join('chain_attempts as a', 'a.id', 'e.attempt_id')
    .where({ 'e.outcome': null, 'a.outcome': null })
    .whereNot('a.kind', 'filler')
    .distinct<Pick<ChainEnvelopeRow, 'network_id' | 'relayer_address'>[]>(
      'e.network_id',
      'e.relayer_address',
    );
  return known.filter(
    ({ networkId, index, address }) =>
      networks.some(({ id, relayers }) => id === networkId && index < relayers) ||
      busy.some((one) => Number(one.network_id) === networkId && one.relayer_address === address),
  );
}

/** The highest nonce of a relayer that an envelope was stored for, or undefined. */
export async function highestRelayerNonce(
  db: Db,
  { networkId, relayerAddress }: Pick<Envelope, 'networkId' | 'relayerAddress'>,
): Promise<number | undefined> {
  const row = await db('chain_envelopes')
    .where({ network_id: BigInt(networkId), relayer_address: relayerAddress })
    .max('relayer_nonce', { as: 'highest' })
    .first();
  return row?.highest === undefined || row.highest === null ? undefined : Number(row.highest);
}

/**
 * Locks a network until the end of the transaction, by the row of its first relayer. Returns the database's time; undefined
 * where no relayer is recorded.
 */
export async function lockNetwork(tx: Tx, networkId: number): Promise<Date | undefined> {
  const row = await tx('relayers')
    .where({ network_id: BigInt(networkId), index: 0 })
    .forUpdate()
    .first<{ now: Date } | undefined>(tx.raw('clock_timestamp() AS now'));
  return row?.now;
}

/** The attempt to deploy an account on a network, created at the first call. */
export async function provideDeploymentAttempt(
  tx: Tx,
  attempt: AccountOnNetwork & { organizationId: string; proposalId: string; to: string; data: string },
): Promise<bigint> {
  await tx('chain_attempts')
    .insert({
      kind: 'deployment',
      organization_id: attempt.organizationId,
      proposal_id: attempt.proposalId,
      account_id: attempt.accountId,
      network_id: attempt.networkId,
      to_address: attempt.to,
      data: attempt.data,
    })
    .onConflict(tx.raw(`(account_id, network_id) WHERE kind = 'deployment'`))
    .ignore();
  const row = await tx('chain_attempts')
    .where({ kind: 'deployment', account_id: attempt.accountId, network_id: BigInt(attempt.networkId) })
    .first('id');
  return requireRow(row).id;
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
  return rows.map(envelope);
}

/** The columns of what an envelope and its reservation share. */
export function envelopeNonceColumns(of: Omit<EnvelopeNonce, 'id'>) {
  return {
    attempt_id: of.attemptId,
    network_id: of.networkId,
    relayer_address: of.relayerAddress,
    relayer_nonce: of.relayerNonce,
    gas: of.gas.toString(),
    max_fee_per_gas: of.maxFeePerGas.toString(),
    max_priority_fee_per_gas: of.maxPriorityFeePerGas.toString(),
  };
}

/**
 * Stores an envelope before it is sent, and other statements in the same round trip; with `whileLive` only while that
 * selects a reservation. Returns undefined where it was not stored, or one was for its reservation before.
 */
export async function insertEnvelope(
  tx: Db | Tx,
  input: Omit<Envelope, 'id' | 'createdAt' | 'outcome'> & { readonly reservationId?: bigint },
  { whileLive, along = [] }: { readonly whileLive?: Statement; readonly along?: readonly Statement[] } = {},
): Promise<bigint | undefined> {
  const row = {
    ...envelopeNonceColumns(input),
    reservation_id: input.reservationId ?? null,
    transaction_hash: input.transactionHash,
    raw_transaction: input.rawTransaction,
  };
  const values = tx.raw(
    Object.keys(row)
      .map(() => '?')
      .join(', '),
    Object.values(row).map((value) => (typeof value === 'bigint' ? String(value) : value)),
  );
  const insert = tx(tx.raw('chain_envelopes (??)', [Object.keys(row)]))
    .insert(whileLive ? whileLive.select(values) : tx.select(values))
    .onConflict(tx.raw('(reservation_id)'))
    .ignore()
    .returning('id');
  const [stored]: { id: bigint }[] = await together(insert, along);
  return stored?.id;
}

/**
 * Records the outcome of an envelope. When it is in a block, others at the same nonce are dropped.
 */
export function decideEnvelope(
  db: Db,
  { id, networkId, relayerAddress, relayerNonce }: Envelope,
  outcome: NonNullable<Envelope['outcome']>,
): Statement {
  const update = db('chain_envelopes')
    .where({ id })
    .update({
      outcome: db.raw(`CASE id WHEN ?::bigint THEN ? ELSE 'dropped' END`, [String(id), outcome]),
      decided_at: db.raw('now()'),
    });
  if (outcome !== 'dropped') {
    const nonce = { network_id: BigInt(networkId), relayer_address: relayerAddress };
    update.orWhere({ ...nonce, relayer_nonce: BigInt(relayerNonce), outcome: null });
  }
  return update;
}

/** Clears the outcome of an envelope: the chain has lost the block that decided it. */
export async function reopenEnvelope(db: Db, id: bigint): Promise<void> {
  await db('chain_envelopes').where({ id }).update({ outcome: null, decided_at: null });
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
  return rows.map(envelope);
}
