// The first account: proposed, signed by two admins, deployed on every network of the demo organization.
import { encodeAbiParameters } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ask, demo } from './service.mjs';

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

const proposed = await ask<Proposal>('/api/v1/accounts/proposals/create', {
  items: [{ name: 'Savings', networkIds: demo.networks.map(({ id }) => id) }],
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
