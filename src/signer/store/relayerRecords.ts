import type { Db, Tx } from '../../db/database';
import type { Envelope } from '../../db/envelopes';
import { QUEUE_SHARED, sealedQueue } from '../../db/lockQueues';
import type { Relayer } from '../../db/relayers';
import { queryNumbered, requireRow } from '../../db/rows';
import type { TransactionRef } from '../../domain/transaction';

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

// One after the other: each waits for the count of what comes before it.
const LOCK_FOR_SIGNING = `WITH network AS MATERIALIZED (SELECT FROM relayers WHERE network_id = $1 AND index = 0 FOR UPDATE),
      queued AS MATERIALIZED (SELECT ${QUEUE_SHARED}($2) FROM (SELECT count(*) FROM network) AS locked),
      sealed AS MATERIALIZED (SELECT FROM queued CROSS JOIN sealed_states z WHERE z.organization_id = $3 FOR SHARE OF z),
      held AS MATERIALIZED (SELECT hold_approval($4) FROM (SELECT count(*) FROM sealed) AS locked)
    SELECT clock_timestamp() AS now FROM held`;

/**
 * Locks a network, as `lockNetwork` does, then what the signer has sealed of an organization, for share, and a transaction,
 * whose execution does not end meanwhile. Returns the time by the database's clock. Read in a statement of its own: one that has
 * waited for a lock still sees the rest as it was before.
 */
export async function lockForSigning(
  tx: Tx,
  networkId: number,
  { organizationId, transactionId }: TransactionRef,
): Promise<Date> {
  const values = [networkId, sealedQueue(organizationId), organizationId, transactionId];
  return requireRow((await queryNumbered<{ now: Date }>(tx, LOCK_FOR_SIGNING, values))[0]).now;
}
