import type { SigningKey } from '../chain/keys';
import { signHead } from '../chain/seals';
import type { Tx } from '../db/database';
import type { Statement } from '../db/rows';
import { storeState } from '../db/seals';
import type { OrganizationState } from '../domain/governance';

/**
 * Stores what the admins of an organization have decided, signed by its seal key; `sealHash` is of the latest seal, which
 * may be stored with it (`along`).
 */
export async function storeSealedState(
  tx: Tx,
  sealKey: SigningKey,
  state: OrganizationState,
  sealHash: string,
  along: readonly Statement[] = [],
): Promise<void> {
  const head = {
    organizationId: state.id,
    sequence: state.sequence,
    sealHash,
    state: JSON.stringify(state),
  };
  await storeState(tx, { ...head, signature: await signHead(sealKey, head) }, along);
}
