// A payment with the client of Hey API's openapi-ts, in ./client.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeAbiParameters, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  createTransaction,
  executeTransaction,
  getTransaction,
  listProposals,
  signTransaction,
} from './client';
import { client } from './client/client.gen';

const { BASE_URL = '', API_KEY = '', PRIVATE_KEY = '', PAYMENT = '' } = process.env;
// The document has a second scheme: the cookie of a session.
client.setConfig({
  baseUrl: BASE_URL,
  auth: ({ scheme }) => (scheme === 'bearer' ? API_KEY : undefined),
});
const headers = () => ({ 'X-Idempotency-Key': randomUUID() });
const throwOnError = true;

async function main(): Promise<void> {
  const { data: created } = await createTransaction({
    ...{ throwOnError, headers: headers() },
    body: JSON.parse(PAYMENT),
  });
  const payloads = created.data.signingPayloads;
  const payload = payloads && 'initiatorPayload' in payloads ? payloads.initiatorPayload : undefined;
  if (payload === undefined) throw new Error('there is nothing to sign');
  const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
  const bytes = await wallet.signTypedData(JSON.parse(payload));
  const signature = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]);
  const path = { txId: created.data.id };
  await signTransaction({
    ...{ throwOnError, headers: headers(), path },
    body: { type: 'initiator', signature },
  });
  let { data: paid } = await executeTransaction({
    ...{ throwOnError, headers: headers(), path },
    body: { type: 'approve' },
  });
  while (paid.data.executionStatus === 'processing') {
    await sleep(1_000);
    ({ data: paid } = await getTransaction({ throwOnError, path }));
  }
  console.log(paid.data.id, paid.data.executionStatus);
  const { data: proposals } = await listProposals({ throwOnError });
  console.log(...proposals.data.map(({ kind }) => kind).sort());
}

void main();
