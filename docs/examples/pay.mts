// A payment by one member of the demo organization, as a bot would make it:
//   node dist/examples/pay.mjs <to> <amount of the coin in wei>
// It looks for a policy that lets it go on the member's signature alone, asks for it, signs, and waits for the chain.
import { deepStrictEqual } from 'node:assert';
import { encodeAbiParameters, getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ask, demo } from './service.mjs';

interface Transaction {
  id: string;
  summary: string;
  executionStatus: string | null;
  signingPayloads: { initiatorPayload: string };
  failure?: { code: string; message: string };
  result?: { transactionHash: string; blockNumber: number };
}

interface Verdict {
  policy: { id: string; name: string };
  allowed: boolean;
  failures: { condition: string; found: string; wanted: string }[];
  threshold: number;
}

const [to = '', value = ''] = process.argv.slice(2);
const [payer] = demo.members;
const [account] = await ask<{ id: string; address: string }[]>('/api/v1/accounts');
if (!payer || !account) throw new Error('there is nobody to pay, or no account to pay from');
const wallet = privateKeyToAccount(payer.privateKey);

const payment = {
  accountId: account.id,
  networkId: 31337,
  initiatorWalletAddress: wallet.address,
  description: 'Paid by the example',
  to: getAddress(to),
  value,
  data: '0x',
};
const verdicts = await ask<Verdict[]>('/api/v1/policies/evaluate', payment);
const fitting = verdicts.find(({ allowed, threshold }) => allowed && threshold === 0);
if (!fitting) {
  const reasons = verdicts.map(({ policy, failures }) => {
    const words = failures.map(({ condition, found, wanted }) => `${condition} is ${found}, not ${wanted}`);
    return `${policy.name}: ${words.join('; ') || 'needs approval'}`;
  });
  throw new Error(`no policy lets it go by itself\n  ${reasons.join('\n  ')}`);
}

const asked = await ask<Transaction>('/api/v1/transactions', { ...payment, policyId: fitting.policy.id });
console.log(`${asked.id}: ${asked.summary}`);

// What is signed comes from the service: it has to be exactly the call that was meant.
const payload = JSON.parse(asked.signingPayloads.initiatorPayload);
const { domain, message, primaryType } = payload;
deepStrictEqual(
  [primaryType, domain.chainId, domain.verifyingContract, message.to, message.value, message.data],
  ['InitiateTransaction', payment.networkId, account.address, payment.to, payment.value, payment.data],
);
const bytes = await wallet.signTypedData(payload);
const signature = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]);
let transaction = await ask<Transaction>(`/api/v1/transactions/${asked.id}/signatures`, {
  type: 'initiator',
  signature,
  execute: true,
});

while (transaction.executionStatus === 'processing') {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  transaction = await ask<Transaction>(`/api/v1/transactions/${asked.id}`);
}
const { executionStatus, failure, result } = transaction;
if (failure) throw new Error(`${executionStatus}: ${failure.code}: ${failure.message}`);
console.log(`${executionStatus} in block ${result?.blockNumber}: ${result?.transactionHash}`);
