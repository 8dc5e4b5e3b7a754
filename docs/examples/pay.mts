// A payment by Dave, a member of the demo organization, as a bot would make it:
//   node dist/examples/pay.mjs <account id> <to> <amount of native currency in wei>
// It looks for a policy that permits it on Dave's signature alone, asks for the transaction, signs, and waits for the chain.
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

const [accountId = '', to = '', value = ''] = process.argv.slice(2);
const [payer] = demo.members;
const [network] = demo.networks;
if (!payer || !network) throw new Error('demo.json names no member or no network');
const account = await ask<{ id: string; address: string }>(`/api/v1/accounts/${accountId}`);
const wallet = privateKeyToAccount(payer.privateKey);

const payment = {
  accountId: account.id,
  networkId: network.id,
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
    const unmet = failures.map(({ condition, found, wanted }) => `${condition} is ${found}, not ${wanted}`);
    return `${policy.name}: ${unmet.join('; ') || 'needs approval'}`;
  });
  throw new Error(`no policy permits this payment without approval\n  ${reasons.join('\n  ')}`);
}

const asked = await ask<Transaction>('/api/v1/transactions', { ...payment, policyId: fitting.policy.id });
console.log(`${asked.id}: ${asked.summary}`);

// The payload comes from the service: check that it is exactly the intended call.
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
