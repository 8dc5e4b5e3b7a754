import { canonicalJson } from '../domain/canonicalJson';
import type { OrganizationState } from '../domain/governance';
import type { Db, Tx } from './database';

/** Stores the state that an organization is to begin with. */
export async function insertGenesis(tx: Tx, state: OrganizationState): Promise<void> {
  await tx('genesis').insert({ organization_id: state.id, state: canonicalJson(state) });
}

/** The state that an organization is to begin with, or has begun with; undefined where there is no such organization. */
export async function findGenesis(
  db: Db | Tx,
  organizationId: string,
): Promise<OrganizationState | undefined> {
  const row = await db('genesis').where({ organization_id: organizationId }).first('state');
  return row && JSON.parse(row.state);
}

/** Stores an admin's signature of the genesis; the first one is kept. True where this is it. */
export async function insertGenesisSignature(
  db: Db | Tx,
  organizationId: string,
  { memberId, signature }: { readonly memberId: string; readonly signature: string },
): Promise<boolean> {
  const stored = await db('genesis_signatures')
    .insert({ organization_id: organizationId, member_id: memberId, signature })
    .onConflict(['organization_id', 'member_id'])
    .ignore()
    .returning('member_id');
  return stored.length > 0;
}

/** The signatures of the genesis, by the id of the member. */
export async function readGenesisSignatures(
  db: Db | Tx,
  organizationId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db('genesis_signatures').where({ organization_id: organizationId });
  return new Map(rows.map((row) => [row.member_id, row.signature]));
}

/** True once the signer has admitted the genesis of an organization. */
export async function isAdmitted(db: Db | Tx, organizationId: string): Promise<boolean> {
  return (
    (await db('sealed_states').where({ organization_id: organizationId }).first('sequence')) !== undefined
  );
}

/** Records the address of an organization's signing key. The first one is kept. */
export async function recordSigningKey(db: Db | Tx, organizationId: string, address: string): Promise<void> {
  await db('signing_keys')
    .insert({ organization_id: organizationId, address })
    .onConflict('organization_id')
    .ignore();
}
