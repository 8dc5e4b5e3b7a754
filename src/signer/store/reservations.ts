import type { Db, Tx } from '../../db/database';
import {
  type AccountOnNetwork,
  type Envelope,
  type EnvelopeNonce,
  type ReservationRow,
  reservationColumns,
  toEnvelopeNonce,
} from '../../db/envelopes';
import { liveReservations, type Reservation, takenNoncesSql } from '../../db/reservations';
import { combineStatements, queryRows, requireRow, type Statement } from '../../db/rows';
import type { RelayerReservationRow } from '../../db/tables';
import type { LeaseHold } from '../../domain/signerLease';
import { currentHold } from './signerLease';

/** Takes a nonce of a relayer for an envelope, before that is signed. */
export async function insertReservation(tx: Tx, input: Omit<Reservation, 'id'>): Promise<Reservation> {
  const [row] = await tx('relayer_reservations').insert(envelopeNonceColumns(input)).returning('id');
  return { ...input, id: requireRow(row).id };
}

/** Nonces of a relayer, from one on, that envelopes were ever signed for, or that are being signed for now. */
export async function takenNonces(
  db: Db | Tx,
  of: { networkId: number; relayerAddress: string; from: number },
): Promise<Set<number>> {
  const sql = takenNoncesSql({ networkId: ':networkId', relayerAddress: ':relayerAddress', from: ':from' });
  const rows = await queryRows<Pick<RelayerReservationRow, 'relayer_nonce'>>(db, sql, of);
  return new Set(rows.map((row) => Number(row.relayer_nonce)));
}

/** What is being signed for one nonce of a relayer, or undefined. */
export async function reservationAt(
  db: Db | Tx,
  { networkId, relayerAddress, nonce }: { networkId: number; relayerAddress: string; nonce: number },
): Promise<Reservation | undefined> {
  const [row] = await liveReservations(db)
    .where({
      'r.network_id': BigInt(networkId),
      'r.relayer_address': relayerAddress,
      'r.relayer_nonce': BigInt(nonce),
    })
    .orderBy('r.id', 'desc')
    .limit(1, { skipBinding: true })
    .select<ReservationRow[]>(reservationColumns('r'));
  return row && toEnvelopeNonce(row);
}

/** What is being signed for attempts, oldest first. */
export async function reservationsOf(
  db: Db | Tx,
  attempts: readonly { readonly id: bigint }[],
): Promise<Reservation[]> {
  if (attempts.length === 0) return [];
  const rows = await liveReservations(db)
    .whereRaw('r.attempt_id = ANY (?::bigint[])', [attempts.map(({ id }) => String(id))])
    .orderBy('r.id')
    .select<ReservationRow[]>(reservationColumns('r'));
  return rows.map(toEnvelopeNonce);
}

/** What is being signed to deploy an account on a network, or undefined. */
export async function deploymentReservation(
  db: Db | Tx,
  { accountId, networkId }: AccountOnNetwork,
): Promise<Reservation | undefined> {
  const attempts = await db('chain_attempts')
    .where({ kind: 'deployment', account_id: accountId, network_id: BigInt(networkId) })
    .select('id');
  return (await reservationsOf(db, attempts)).at(-1);
}

/**
 * Stores the envelope that was signed for a reservation, and other statements in the same round trip; returns the first
 * one's id. Undefined when the reservation has ended, as its nonce may be taken by another; and where another signer has
 * taken the lease over since `hold`.
 */
export async function storeReserved(
  db: Db,
  reserved: Reservation,
  bytes: Pick<Envelope, 'transactionHash' | 'rawTransaction'>,
  { batch, hold }: { readonly batch: readonly Statement[]; readonly hold: LeaseHold | undefined },
): Promise<bigint | undefined> {
  const { id, ...of } = reserved;
  const whileLive = liveReservations(db).where({ 'r.id': id });
  const stored = await insertEnvelope(
    db,
    { ...of, ...bytes, reservationId: id },
    { whileLive: hold === undefined ? whileLive : whileLive.whereExists(currentHold(db, hold)), batch },
  );
  if (stored !== undefined) return stored;
  const row = await db('chain_envelopes').where({ reservation_id: id }).first('id');
  return row?.id;
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
  { whileLive, batch = [] }: { readonly whileLive?: Statement; readonly batch?: readonly Statement[] } = {},
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
    // Signed twice at once it has the same hash as well, and a conflict of an index that is not named is an error.
    .onConflict()
    .ignore()
    .returning('id');
  const [stored]: { id: bigint }[] = await combineStatements(insert, batch);
  return stored?.id;
}
