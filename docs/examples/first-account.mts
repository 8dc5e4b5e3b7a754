// An account: proposed, signed by two admins, deployed on every network of the demo organization.
//   npm run example -- first-account <name>
import type { OperationIntent } from '@orgwallet/client';
import { demo, orgwallet, walletOf } from './demo.mjs';

const [name = ''] = process.argv.slice(2);
const intent: OperationIntent = {
  type: 'accounts.create',
  items: [{ name, networkIds: demo.networks.map(({ id }) => id) }],
};
let proposal = await orgwallet.propose(intent);
console.log(`${proposal.id}: ${proposal.summary}`);

for (const admin of demo.admins.members.slice(0, demo.admins.threshold)) {
  // Each admin compares the payload with what was asked for, and signs nothing else.
  proposal = await orgwallet.vote(proposal, 'approve', { wallet: walletOf(admin), intent, execute: true });
  const { signatureStatus, executionStatus } = proposal;
  console.log(`${admin.name} signed: ${signatureStatus}, ${executionStatus ?? 'not executed'}`);
}

const { result } = await orgwallet.waitFor(proposal, 'completed');
const account = await orgwallet.getAccount(result?.resources[0]?.id ?? '');
console.log(
  `${account.name} is ${account.address} on ${account.networks.map(({ name }) => name).join(' and ')}`,
);
