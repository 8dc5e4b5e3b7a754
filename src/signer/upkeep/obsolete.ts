import type { EnvelopePayload } from '../../db/attempts';
import type { Db, Tx } from '../../db/database';
import type { Envelope } from '../../db/envelopes';
import { isObsolete } from '../../domain/obsolete';
import type { SignerContext } from '../signerContext';
import { upkeepHash } from '../store/upkeep';

/**
 * Whether an envelope is obsolete, so that a filler may take its nonce. Of an upkeep that is what the signer has seen itself: others
 * can write the outcome in its row, and would hold it back so.
 */
export async function isObsoleteHere(
  { upkeep }: Pick<SignerContext, 'upkeep'>,
  db: Db | Tx,
  { attemptId }: Pick<Envelope, 'attemptId'>,
  payload: EnvelopePayload,
): Promise<boolean> {
  const hash = await upkeepHash(db, attemptId);
  return hash === null ? isObsolete(payload) : upkeep.isSettled(hash);
}
