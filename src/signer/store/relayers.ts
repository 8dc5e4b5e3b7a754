import type { Envelope } from '../../db/chain';
import type { Db, Tx } from '../../db/database';
import type { Relayer } from '../../db/relayers';

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
