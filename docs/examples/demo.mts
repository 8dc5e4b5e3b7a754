// The demo organization of `npm start`, and a client of its service.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOrgwallet, signWith } from '@orgwallet/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

interface Person {
  name: string;
  privateKey: Hex;
}

interface Demo {
  baseUrl: string;
  apiKeys: [{ key: string }];
  admins: { threshold: number; members: Person[] };
  members: [Person];
  networks: [{ id: number }];
}

const dataDir = process.env.ORGWALLET_DATA_DIR ?? '.data';
export const demo: Demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));

export const orgwallet = createOrgwallet({ baseUrl: demo.baseUrl, apiKey: demo.apiKeys[0].key });

/** The wallet of a person of the demo. */
export const walletOf = ({ privateKey }: Person) => signWith.viem(privateKeyToAccount(privateKey));
