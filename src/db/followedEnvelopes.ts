import type { Db } from './database';
import type { Envelope } from './envelopes';
import { forgetFee } from './relayerFees';
import { executeBatch, type Statement } from './rows';

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
      decided_at: db.raw('coalesce(decided_at, now())'),
    });
  if (outcome !== 'dropped') {
    const nonce = { network_id: BigInt(networkId), relayer_address: relayerAddress };
    update.orWhere({ ...nonce, relayer_nonce: BigInt(relayerNonce), outcome: null });
  }
  return update;
}

/** Clears the outcome of an envelope, and what it cost: the chain has lost the block that decided it. */
export async function reopenEnvelope(db: Db, id: bigint): Promise<void> {
  const reopened = db('chain_envelopes').where({ id }).update({ outcome: null, decided_at: null });
  await executeBatch([reopened, forgetFee(db, id)]);
}
