// A payment by Dave, a member of the demo organization, as a bot would make it:
//   npm run example -- pay <account id> <to> <amount of native currency in wei>
import { demo, orgwallet, walletOf } from './demo.mjs';

const [account = '', to = '', amount = ''] = process.argv.slice(2);
const [network] = demo.networks;
const [payer] = demo.members;

// Looks for a policy that permits it, requests it, verifies what it is given to sign, signs, and waits for the chain.
const wallet = walletOf(payer);
const sent = await orgwallet.transfer({ account, networkId: network.id, to, amount, wallet });
console.log(`${sent.id}: ${sent.summary}`);

const { executionStatus, signatureStatus, result } = sent;
if (executionStatus !== 'completed') throw new Error(`it waits for its approvers: ${signatureStatus}`);
console.log(`${executionStatus} in block ${result?.blockNumber}: ${result?.transactionHash}`);
