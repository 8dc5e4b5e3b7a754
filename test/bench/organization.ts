import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { operationDomainSalt } from '../../src/chain/domainSalt';
import { encodeSignature } from '../../src/chain/signatures';
import { issueApiKey } from '../../src/db/apiKeys';
import { OPERATOR } from '../../src/db/audit';
import { createDatabase } from '../../src/db/database';
import { createOrganization } from '../../src/db/organizations';

/** An organization with three people and a bot as admins, two of whom have to sign. */
export interface BenchOrganization {
  readonly id: string;
  readonly key: string;
  readonly wallets: readonly PrivateKeyAccount[];
}

export async function makeOrganization(databaseUrl: string): Promise<BenchOrganization> {
  const db = createDatabase(databaseUrl, { poolMax: 2 });
  try {
    const wallets = Array.from({ length: 4 }, () => privateKeyToAccount(generatePrivateKey()));
    const { organizationId, memberIds } = await createOrganization(
      db,
      {
        name: 'Bench',
        threshold: 2,
        members: wallets.map((wallet, index) => ({
          name: `Admin ${index}`,
          type: index === 3 ? 'api' : 'user',
          walletAddress: wallet.address,
          admin: true,
        })),
      },
      operationDomainSalt,
    );
    const { key } = await db.transaction((tx) =>
      issueApiKey(tx, { organizationId, memberIds: memberIds.slice(3), actor: OPERATOR }),
    );
    return { id: organizationId, key, wallets };
  } finally {
    await db.destroy();
  }
}

/** A wallet's approval of a proposal, as the API takes it. */
export async function approval(wallet: PrivateKeyAccount, payload: string): Promise<string> {
  return encodeSignature(wallet.address, await wallet.signTypedData(JSON.parse(payload)));
}
