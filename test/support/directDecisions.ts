import { writeChanges } from '../../src/approvals/decidedRows';
import { storeSealedState } from '../../src/approvals/sealedState';
import type { Keystore } from '../../src/chain/keys';
import { deriveAccount } from '../../src/chain/safeAccount';
import type { Tx } from '../../src/db/database';
import { executeBatch } from '../../src/db/rows';
import { findSealedState } from '../../src/db/seals';
import { type OrganizationState, type ResourceChange, withResources } from '../../src/domain/governance';

/**
 * Writes changes into the sealed state and into the tables, as if the admins had decided them, without a seal. `tx` is of
 * the login that owns the tables.
 */
export async function writeDecided(
  tx: Tx,
  keystore: Pick<Keystore, 'sealKey'>,
  organizationId: string,
  changesOf: (state: OrganizationState) => readonly ResourceChange[],
): Promise<readonly ResourceChange[]> {
  const stored = await findSealedState(tx, organizationId, { lock: 'update' });
  if (!stored) throw new Error(`organization ${organizationId} is not admitted`);
  const state: OrganizationState = JSON.parse(stored.state);
  const changes = changesOf(state);
  const next = withResources(state, state.sequence, changes);
  await storeSealedState(tx, keystore.sealKey(organizationId), next, stored.sealHash);
  const left = await writeChanges(tx, organizationId, changes, (id) => deriveAccount(state.signingKey, id));
  await executeBatch(left);
  // Nothing is sealed, so the sequence is the same: what is shown of an approval has another tag by its time.
  await tx('approvals')
    .where({ organization_id: organizationId })
    .update({ updated_at: tx.raw(`updated_at + interval '1 ms'`) });
  return changes;
}
