import type { SigningKey } from '../chain/keys';
import { signHead } from '../chain/seals';
import type { Tx } from '../db/database';
import { storeState } from '../db/seals';
import type { OrganizationState } from '../domain/governance';

/** Stores what the admins of an organization have decided, signed by its seal key; `sealHash` is of the latest seal. */
export async function storeSealedState(
  tx: Tx,
  sealKey: SigningKey,
  state: OrganizationState,
  sealHash: string,
): Promise<void> {
  const head = {
    organizationId: state.id,
    sequence: state.sequence,
    sealHash,
    state: JSON.stringify(state),
  };
  await storeState(tx, { ...head, signature: await signHead(sealKey, head) });
}
