import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { encodeSignature } from '../../src/chain/signatures';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { createDatabase } from '../../src/db/database';
import { OPERATOR } from '../../src/domain/actor';
import { openKeystore } from '../../src/signer/keys/keystore';
import { foundOrganization } from '../../tools/dev/foundOrganization';
import type { BenchStack } from './stack';

const BOT = 3;

/** An organization whose admins are people and one bot. */
export interface BenchOrganization {
  readonly id: string;
  readonly key: string;
  readonly wallets: readonly PrivateKeyAccount[];
}

/** Founds an organization of admins with keys, in the tables. */
export async function makeOrganization(
  stack: BenchStack,
  { admins = 4, threshold = 2 }: { readonly admins?: number; readonly threshold?: number } = {},
): Promise<BenchOrganization> {
  const db = createDatabase(stack.databaseUrl, { poolMax: 2 });
  const signerDb = createDatabase(stack.signerDatabaseUrl, { poolMax: 1 });
  try {
    const wallets = Array.from({ length: admins }, () => privateKeyToAccount(generatePrivateKey()));
    const { organizationId, memberIds } = await foundOrganization(
      { db, signerDb, keystore: await openKeystore(stack.keystore) },
      {
        name: 'Bench',
        threshold,
        members: wallets.map((wallet, index) => ({
          name: `Admin ${index}`,
          type: index === BOT ? 'api' : 'user',
          wallet,
          admin: true,
        })),
      },
    );
    const { key } = await db.transaction((tx) =>
      issueApiKey(tx, { organizationId, memberIds: memberIds.slice(BOT, BOT + 1), actor: OPERATOR }),
    );
    return { id: organizationId, key, wallets };
  } finally {
    await Promise.all([db.destroy(), signerDb.destroy()]);
  }
}

/** A wallet's approval of a proposal, as the API takes it. */
export async function approval(wallet: PrivateKeyAccount, payload: string): Promise<string> {
  return encodeSignature(wallet.address, await wallet.signTypedData(JSON.parse(payload)));
}
