import type { Db, Tx } from './database';
import type { ChainEnvelopeRow } from './tables';

/** A key that pays for gas on a network. */
export interface Relayer {
  readonly networkId: number;
  readonly index: number;
  readonly address: string;
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
