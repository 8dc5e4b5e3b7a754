// A payment by Dave, a member of the demo organization, with Den's SDK (docs/den-sdk.md):
// node payWithDenSdk.mjs ACCOUNT_ID POLICY_ID TO WEI
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DenClient } from '@onchainden/mls-sdk-ts';
import { encodeAbiParameters } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const [accountId, policyId, to, value] = process.argv.slice(2);
const demo = JSON.parse(readFileSync(join(process.env.ORGWALLET_DATA_DIR ?? '.data', 'demo.json'), 'utf8'));
const dave = privateKeyToAccount(demo.members[0].privateKey);

// The SDK adds /api/v1 itself.
const client = new DenClient({ apiKey: demo.apiKeys[0].key, baseUrl: new URL(demo.baseUrl).origin });
// It makes no idempotency keys. A program that pays stores them first: with the same key nothing is paid twice.
const once = () => ({ headers: { 'X-Idempotency-Key': randomUUID() } });

const request = {
  ...{ accountId, policyId, networkId: demo.networks[0].id, initiatorWalletAddress: dave.address },
  ...{ description: 'Lunch', to, value, data: '0x' },
};
const { data: created } = await client.createTransaction(request, once());
const payload = JSON.parse(created.signatureData.initiatorPayload);
const { message } = payload;
if (message.to.toLowerCase() !== to.toLowerCase() || message.value !== value || message.data !== '0x') {
  throw new Error(`this is another payment: ${JSON.stringify(message)}`);
}
const bytes = await dave.signTypedData(payload);
const signature = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [dave.address, bytes]);
await client.signTransaction(created.id, { type: 'initiator', signature }, once());

let { data: paid } = await client.executeTransaction(created.id, { type: 'approve' }, once());
while (paid.executionStatus === 'processing') {
  await sleep(1_000);
  ({ data: paid } = await client.getTransaction(created.id));
}
console.log(`${paid.id} ${paid.executionStatus}`);
