// The first account: proposed, signed by two admins, deployed on every network of the demo organization.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeAbiParameters, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

interface Demo {
  baseUrl: string;
  apiKeys: { key: string }[];
  admins: { threshold: number; members: { name: string; privateKey: Hex }[] };
  networks: { id: number }[];
}

interface Proposal {
  id: string;
  summary: string;
  signatureStatus: string;
  executionStatus: string | null;
  signingPayloads: { approvePayload: string };
  failure?: { code: string; message: string };
  result?: { resources: { uri: string }[] };
}

interface Account {
  name: string;
  address: string;
  networks: { id: number; name: string }[];
}

const dataDir = process.env.ORGWALLET_DATA_DIR ?? '.data';
const demo: Demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
const { origin } = new URL(demo.baseUrl);

/** One request. A mutation that got no answer is sent again with its idempotency key: it happens once. */
async function ask<T>(path: string, body?: unknown): Promise<T> {
  const init: RequestInit = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Authorization: `Bearer ${demo.apiKeys[0]?.key}`,
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'X-Idempotency-Key': randomUUID() }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, origin), init).catch((error: Error) => error);
    const answer = response instanceof Response ? await response.json() : undefined;
    if (response instanceof Response && response.ok) return answer.data;
    const again = !(response instanceof Response) || response.status === 500 || response.status === 429;
    if (!again || attempt === 5) throw new Error(answer ? JSON.stringify(answer.error) : String(response));
    await new Promise((resolve) => setTimeout(resolve, 1_000 * attempt));
  }
}

const proposed = await ask<Proposal>('/api/v1/accounts/proposals/create', {
  items: [{ name: 'Treasury', networkIds: demo.networks.map(({ id }) => id) }],
});
console.log(`${proposed.id}: ${proposed.summary}`);

let proposal = proposed;
for (const { name, privateKey } of demo.admins.members.slice(0, demo.admins.threshold)) {
  const wallet = privateKeyToAccount(privateKey);
  const bytes = await wallet.signTypedData(JSON.parse(proposed.signingPayloads.approvePayload));
  const signature = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]);
  proposal = await ask<Proposal>(`/api/v1/accounts/proposals/${proposed.id}/signatures`, {
    type: 'approve',
    signature,
    execute: true,
  });
  console.log(`${name} signed: ${proposal.signatureStatus}, ${proposal.executionStatus ?? 'not executed'}`);
}

while (proposal.executionStatus === 'processing') {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  proposal = await ask<Proposal>(`/api/v1/accounts/proposals/${proposed.id}`);
}
if (proposal.failure) throw new Error(`${proposal.failure.code}: ${proposal.failure.message}`);

const account = await ask<Account>(proposal.result?.resources[0]?.uri ?? '');
console.log(
  `${account.name} is ${account.address} on ${account.networks.map(({ name }) => name).join(' and ')}`,
);
