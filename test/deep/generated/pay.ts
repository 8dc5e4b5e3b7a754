// A payment with the client of openapi-generator's typescript-fetch, in ./client.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeAbiParameters, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  Configuration,
  CreateTransactionRequestFromJSON,
  ProposalsApi,
  TransactionSignatureType,
  TransactionsApi,
  VoteType,
} from './client';

const { BASE_URL = '', API_KEY = '', PRIVATE_KEY = '', PAYMENT = '' } = process.env;
const configuration = new Configuration({ basePath: BASE_URL, accessToken: API_KEY });
const transactions = new TransactionsApi(configuration);
const xIdempotencyKey = () => randomUUID();

async function main(): Promise<void> {
  const { data: created } = await transactions.createTransaction({
    xIdempotencyKey: xIdempotencyKey(),
    createTransactionRequest: CreateTransactionRequestFromJSON(JSON.parse(PAYMENT)),
  });
  const payloads = created.signingPayloads;
  if (!payloads || !('initiatorPayload' in payloads)) throw new Error('there is nothing to sign');
  const wallet = privateKeyToAccount(PRIVATE_KEY as Hex);
  const bytes = await wallet.signTypedData(JSON.parse(payloads.initiatorPayload));
  const signature = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]);
  const txId = created.id;
  await transactions.signTransaction({
    txId,
    xIdempotencyKey: xIdempotencyKey(),
    signTransactionRequest: { type: TransactionSignatureType.Initiator, signature },
  });
  let { data: paid } = await transactions.executeTransaction({
    txId,
    xIdempotencyKey: xIdempotencyKey(),
    executeRequest: { type: VoteType.Approve },
  });
  while (paid.executionStatus === 'processing') {
    await sleep(1_000);
    ({ data: paid } = await transactions.getTransaction({ txId }));
  }
  console.log(paid.id, paid.executionStatus);
  const { data: proposals } = await new ProposalsApi(configuration).listProposals();
  console.log(...proposals.map(({ kind }) => kind).sort());
}

void main();
