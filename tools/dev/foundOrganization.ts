import type { Address, Hex, TypedDataDefinition } from 'viem';
import { operationDomainSalt } from '../../src/chain/domainSalt';
import { encodeSignature } from '../../src/chain/signatures';
import { createIdentifyVoter, type IdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import type { Db } from '../../src/db/database';
import { insertGenesisSignature } from '../../src/db/genesis';
import {
  type AdmitDeps,
  admitGenesis,
  keyAddresses,
  readGenesis,
} from '../../src/organizations/admitGenesis';
import { createOrganization, type NewOrganization } from '../../src/organizations/organization';

/** A member of a new organization. The wallets of its admins are at hand, and sign. */
export interface Founder extends Omit<NewOrganization['members'][number], 'walletAddress'> {
  readonly wallet: {
    readonly address: Address;
    readonly signTypedData: (typed: TypedDataDefinition) => Promise<Hex>;
  };
}

const ofKeysAlone = createIdentifyVoter({ network: { id: 0, name: 'none' } as NetworkConfig, clients: [] });

/**
 * Creates an organization, signs its genesis with the wallets of its admins, and admits it: for organizations whose keys
 * are on this machine. `db` is the login of the service, `signerDb` the one of the signer.
 */
export async function foundOrganization(
  {
    db,
    signerDb,
    keystore,
    identifyVoter = ofKeysAlone,
  }: {
    readonly db: Db;
    readonly signerDb: Db;
    readonly keystore: AdmitDeps['keystore'];
    readonly identifyVoter?: IdentifyVoter;
  },
  input: Omit<NewOrganization, 'members'> & { readonly members: readonly Founder[] },
): Promise<{ organizationId: string; memberIds: string[]; adminsId: string }> {
  const members = input.members.map(({ wallet, ...member }) => ({
    ...member,
    walletAddress: wallet.address,
  }));
  const created = await createOrganization(
    db,
    { ...input, members },
    {
      domainSalt: operationDomainSalt,
      keysOf: (id) => keyAddresses(keystore, id),
    },
  );
  const { organizationId, memberIds } = created;
  const genesis = await readGenesis(db, organizationId);
  if (!genesis) throw new Error(`organization ${organizationId} has no genesis`);
  for (const [i, { admin, wallet }] of input.members.entries()) {
    if (!admin) continue;
    const bytes = await wallet.signTypedData(JSON.parse(genesis.payload));
    const signature = encodeSignature(wallet.address, bytes);
    await insertGenesisSignature(db, organizationId, { memberId: memberIds[i] ?? '', signature });
  }
  const admitted = await admitGenesis(
    { db: signerDb, production: false, keystore, identifyVoter },
    { organizationId, hash: genesis.hash },
  );
  if (!admitted.ok) throw new Error(admitted.refusal.message);
  return created;
}
