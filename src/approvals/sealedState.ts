import type { SigningKey } from '../chain/keys';
import { signHead } from '../chain/seals';
import type { Tx } from '../db/database';
import type { Statement } from '../db/rows';
import { type StoredState, storeState } from '../db/seals';
import type { OrganizationState } from '../domain/governance';

/**
 * Stores what the admins of an organization have decided, signed by its seal key; `sealHash` is of the latest seal, which
 * may be stored with it (`along`). Returns it.
 */
export async function storeSealedState(
  tx: Tx,
  sealKey: SigningKey,
  state: OrganizationState,
  sealHash: string,
  along: readonly Statement[] = [],
): Promise<StoredState> {
  const head = {
    organizationId: state.id,
    sequence: state.sequence,
    sealHash,
    state: JSON.stringify(state),
  };
  const stored = { ...head, signature: await signHead(sealKey, head) };
  await storeState(tx, stored, along);
  return stored;
}
