import type { Db, Tx } from './database';
import type { AccountOnNetwork, EnvelopeNonce } from './envelopes';
import type { RelayerReservationRow } from './tables';

/** A nonce of a relayer that is taken for an envelope, with its terms. Amounts are in wei. */
export type Reservation = EnvelopeNonce;

/** How long a nonce waits for its signature: long enough that the retry after a crash finds it. */
const LIVE_SECONDS = 60;

/** Reservations that are being signed now. Read before the envelopes that they become. */
export function liveReservations(db: Db | Tx) {
  return db('relayer_reservations as r')
    .whereRaw('r.reserved_at > now() - make_interval(secs => ?)', [LIVE_SECONDS])
    .whereNotExists(db('chain_envelopes as e').whereRaw('e.reservation_id = r.id').select(db.raw('1')));
}

/** Nonces of a relayer that are taken, and whose envelopes are being signed. */
export async function reservedNonces(
  db: Db | Tx,
  { networkId, relayerAddress }: Pick<Reservation, 'networkId' | 'relayerAddress'>,
): Promise<number[]> {
  const rows = await liveReservations(db)
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
  const [first] = await liveReservations(db)
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
