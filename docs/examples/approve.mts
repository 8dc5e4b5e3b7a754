import { createOrgwallet, type OperationIntent, signWith } from '@orgwallet/client';
import { privateKeyToAccount } from 'viem/accounts';
import { demo } from './demo.mjs'; // the demo organization of npm start, with the keys of its people

const orgwallet = createOrgwallet({ baseUrl: demo.baseUrl, apiKey: demo.apiKeys[0].key });
const items = [{ name: `Savings ${Date.now()}`, networkIds: [31337] }];
const intent: OperationIntent = { type: 'accounts.create', items };
let proposal = await orgwallet.propose(intent);
for (const { privateKey } of demo.admins.members.slice(0, demo.admins.threshold)) {
  const wallet = signWith.viem(privateKeyToAccount(privateKey)); // signs nothing but the intent
  proposal = await orgwallet.vote(proposal, 'approve', { wallet, intent, execute: true });
}
console.log(`${proposal.summary}: ${proposal.executionStatus}`);
