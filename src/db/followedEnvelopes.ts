import type { Db } from './database';
import { type Envelope, type EnvelopeRow, envelopeColumns, toEnvelope } from './envelopes';
import type { Statement } from './rows';

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
  return rows.map(toEnvelope);
}
