import type { SigningKey } from '../chain/keys';
import { signHead } from '../chain/signedSeals';
import type { Tx } from '../db/database';
import { type StoredState, storeState } from '../db/seals';
import type { OrganizationState } from '../domain/governance';

/** What the admins of an organization have decided, signed by its seal key; `sealHash` is of the latest seal. */
export async function signedState(
  sealKey: SigningKey,
  state: OrganizationState,
  sealHash: string,
): Promise<StoredState> {
  const head = {
    organizationId: state.id,
    sequence: state.sequence,
    sealHash,
    state: JSON.stringify(state),
  };
  return { ...head, signature: await signHead(sealKey, head) };
}

/** Signs and stores what the admins of an organization have decided, whatever is stored. */
export async function storeSealedState(
  tx: Tx,
  sealKey: SigningKey,
  state: OrganizationState,
  sealHash: string,
): Promise<void> {
  await storeState(tx, await signedState(sealKey, state, sealHash));
}
