import type { LeaseHold } from '../domain/signerLease';
import {
  type AccountOnNetwork,
  type Envelope,
  type EnvelopeNonce,
  envelopeNonce,
  envelopeNonceColumns,
  insertEnvelope,
  type ReservationRow,
  reservationColumns,
} from './chain';
import type { Db, Tx } from './database';
import { queryRows, requireRow, type Statement } from './rows';
import { currentHold } from './signerLease';
import type { RelayerReservationRow } from './tables';

/** A nonce of a relayer that is taken for an envelope, with its terms. Amounts are in wei. */
export type Reservation = EnvelopeNonce;

/** How long a nonce waits for its signature: long enough that the retry after a crash finds it. */
const LIVE_SECONDS = 60;

/** Reservations that are being signed now. Read before the envelopes that they become. */
function live(db: Db | Tx) {
  return db('relayer_reservations as r')
    .whereRaw('r.reserved_at > now() - make_interval(secs => ?)', [LIVE_SECONDS])
    .whereNotExists(db('chain_envelopes as e').whereRaw('e.reservation_id = r.id').select(db.raw('1')));
}

/** Takes a nonce of a relayer for an envelope, before that is signed. */
export async function insertReservation(tx: Tx, input: Omit<Reservation, 'id'>): Promise<Reservation> {
  const [row] = await tx('relayer_reservations').insert(envelopeNonceColumns(input)).returning('id');
  return { ...input, id: requireRow(row).id };
}

/** Nonces of a relayer that are taken, and whose envelopes are being signed. */
export async function reservedNonces(
  db: Db | Tx,
  { networkId, relayerAddress }: Pick<Reservation, 'networkId' | 'relayerAddress'>,
): Promise<number[]> {
  const rows = await live(db)
    .where({ 'r.network_id': BigInt(networkId), 'r.relayer_address': relayerAddress })
    .select<Pick<RelayerReservationRow, 'relayer_nonce'>[]>('r.relayer_nonce');
  return rows.map((row) => Number(row.relayer_nonce));
}

/**
 * Selects nonces of a relayer, from one on, that envelopes were ever signed for, or that are being signed for now. Each of
 * `of` is SQL.
 */
export const takenNoncesSql = (of: { networkId: string; relayerAddress: string; from: string }) =>
  `SELECT e.relayer_nonce FROM chain_envelopes e
      WHERE e.network_id = ${of.networkId} AND e.relayer_address = ${of.relayerAddress} AND e.relayer_nonce >= ${of.from}
    UNION ALL
    SELECT r.relayer_nonce FROM relayer_reservations r
      WHERE r.network_id = ${of.networkId} AND r.relayer_address = ${of.relayerAddress}
        AND r.reserved_at > now() - interval '${LIVE_SECONDS} s'
        AND NOT EXISTS (SELECT FROM chain_envelopes e WHERE e.reservation_id = r.id)`;

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
  const [row] = await live(db)
    .where({
      'r.network_id': BigInt(networkId),
      'r.relayer_address': relayerAddress,
      'r.relayer_nonce': BigInt(nonce),
    })
    .orderBy('r.id', 'desc')
    .limit(1, { skipBinding: true })
    .select<ReservationRow[]>(reservationColumns('r'));
  return row && envelopeNonce(row);
}

/** What is being signed for attempts, oldest first. */
export async function reservationsOf(
  db: Db | Tx,
  attempts: readonly { readonly id: bigint }[],
): Promise<Reservation[]> {
  if (attempts.length === 0) return [];
  const rows = await live(db)
    .whereRaw('r.attempt_id = ANY (?::bigint[])', [attempts.map(({ id }) => String(id))])
    .orderBy('r.id')
    .select<ReservationRow[]>(reservationColumns('r'));
  return rows.map(envelopeNonce);
}

/** The attempts of an account's undecided transactions on a network. */
function undecidedOf(db: Db | Tx, { accountId, networkId }: AccountOnNetwork) {
  return db('chain_attempts as a')
    .join('chain_attempts as t', 't.transaction_id', 'a.transaction_id')
    .where({ 't.account_id': accountId, 't.network_id': BigInt(networkId) })
    .where({ 't.kind': 'transaction', 't.outcome': null, 'a.outcome': null })
    .select('a.id');
}

/**
 * The relayer of what is being signed for an account's undecided transactions on a network, or of their newest undecided
 * envelope; else the registered relayer with `registeredIndex`, if one is given.
 */
export async function payingRelayer(
  db: Db | Tx,
  on: AccountOnNetwork,
  registeredIndex: number | null = null,
): Promise<string | undefined> {
  const rank = (value: number) => db.raw('?::integer AS rank', [value]);
  const [first] = await live(db)
    .whereIn('r.attempt_id', undecidedOf(db, on))
    .select<{ relayer_address: string }[]>('r.relayer_address', 'r.id', rank(0))
    .unionAll(
      db('chain_envelopes as e')
        .whereIn('e.attempt_id', undecidedOf(db, on))
        .where({ 'e.outcome': null })
        .select('e.relayer_address', 'e.id', rank(1)),
      db('relayers')
        .where({ network_id: BigInt(on.networkId) })
        .whereRaw('"index" = ?::integer', [registeredIndex])
        .select('address', db.raw('0::bigint'), rank(2)),
    )
    .orderBy([{ column: 'rank' }, { column: 'id', order: 'desc' }])
    // The limit is in the text, so that this is prepared: few rows match.
    .limit(1, { skipBinding: true });
  return first?.relayer_address;
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
  { along, hold }: { readonly along: readonly Statement[]; readonly hold: LeaseHold | undefined },
): Promise<bigint | undefined> {
  const { id, ...of } = reserved;
  const whileLive = live(db).where({ 'r.id': id });
  const stored = await insertEnvelope(
    db,
    { ...of, ...bytes, reservationId: id },
    { whileLive: hold === undefined ? whileLive : whileLive.whereExists(currentHold(db, hold)), along },
  );
  if (stored !== undefined) return stored;
  const row = await db('chain_envelopes').where({ reservation_id: id }).first('id');
  return row?.id;
}
