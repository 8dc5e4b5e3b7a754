import type { Schema } from '@orgwallet/client';
import { encodeFunctionData, erc20Abi, type Hex, parseAbi, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { DemoFile } from '../../dev/prepare';
import { fund, type Holdings, holdings, shownAmount, testToken, whole } from '../money';
import { type Account, carryOut, expect, mustRefuse, resultIds, type Stage } from '../stage';
import {
  ask,
  type DemoMember,
  demoMember,
  signAs,
  type TransactionRequest,
  transactionOutcome,
} from '../transactionSteps';

type AddedPolicy = Schema['AddedPolicy'];

/** A funded account and its policies. */
interface Purse {
  readonly account: Account;
  readonly network: DemoFile['networks'][number];
  readonly token: Hex;
  /** The initiator of transactions. */
  readonly dave: DemoMember;
  readonly approvers: { readonly alice: DemoMember; readonly bob: DemoMember };
  readonly groupId: string;
  readonly policyIds: { readonly petty: string; readonly invoices: string; readonly burning: string };
}

/** The maximum of the petty cash policy, per transfer and per day. */
const PETTY_CASH = whole(20n);

function newAddress(): Hex {
  return privateKeyToAccount(generatePrivateKey()).address;
}

/** Checks the balances of an address on chain. */
async function expectHoldings(
  { print }: Stage,
  { network }: Pick<Purse, 'network'>,
  address: string,
  wanted: Holdings,
): Promise<void> {
  const { native, token } = await holdings(network, address as Hex);
  expect(
    native === wanted.native && token === wanted.token,
    `${address} should have ${shownAmount(wanted.native)} ETH and ${shownAmount(wanted.token)} DEMO on ${network.name}, ` +
      `and has ${shownAmount(native)} and ${shownAmount(token)}`,
  );
  print.line('on chain', `${address} has ${shownAmount(native)} ETH and ${shownAmount(token)} DEMO`);
}

/** A request of Dave, without recipient and value unless given. */
function request(purse: Purse, policyId: string, what: Partial<TransactionRequest>): TransactionRequest {
  return {
    accountId: purse.account.id,
    initiatorWalletAddress: purse.dave.walletAddress,
    networkId: purse.network.id,
    policyId,
    description: '',
    to: purse.token,
    value: '0',
    data: '0x',
    ...what,
  };
}

function tokenTransfer(to: Hex, amount: bigint): Pick<TransactionRequest, 'data'> {
  return { data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }) };
}

function burn(amount: bigint): Pick<TransactionRequest, 'data'> {
  return { data: encodeFunctionData({ abi: parseAbi(['function burn(uint256)']), args: [amount] }) };
}

function policiesOf(
  { named }: Stage,
  base: Pick<AddedPolicy, 'networkId' | 'accountIds' | 'initiatorSetting'>,
  groupId: string,
  carolId: string,
  tokenAddress: string,
): AddedPolicy[] {
  return [
    {
      ...base,
      name: named('Petty cash'),
      type: 'AUTO_APPROVAL',
      transactionType: 'TOKEN_TRANSFER',
      tokenTransferCondition: {
        tokenAddress,
        amountThreshold: String(PETTY_CASH),
        destinationAddresses: [],
      },
      limitation: {
        hours: 24,
        initiatorScope: 'ALL_ITEMS',
        sourceAccountScope: 'PER_ITEM',
        destinationScope: 'ALL_ITEMS',
      },
    },
    {
      ...base,
      name: named('Invoices'),
      type: 'MANUAL_APPROVAL',
      transactionType: 'TOKEN_TRANSFER',
      approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: true },
      tokenTransferCondition: {
        tokenAddress: zeroAddress,
        amountThreshold: null,
        destinationAddresses: [],
      },
    },
    {
      ...base,
      name: named('Burning tokens'),
      type: 'MANUAL_APPROVAL',
      transactionType: 'CONTRACT_INTERACTION',
      approverSetting: { type: 'user', memberId: carolId },
      contractInteractionCondition: [{ contractAddress: tokenAddress, allowedFunctions: ['burn(uint256)'] }],
    },
  ];
}

/** Funds the account with native currency and tokens, and creates its policies. */
export async function purse(stage: Stage, account: Account): Promise<Purse> {
  const { demo, print } = stage;
  const [network] = demo.networks;
  expect(network !== undefined, 'demo.json has no network');
  print.chapter(`Funds on ${network.name}, and policies for them`);
  const token = testToken(network);
  await expectHoldings(stage, { network }, account.address, { native: 0n, token: 0n });
  const income = { native: whole(2n), token: whole(100n) };
  await fund(network, account.address as Hex, income);
  const funder = privateKeyToAccount(network.funderPrivateKey as Hex).address;
  print.line(
    'funder',
    `${funder} sends ${shownAmount(income.native)} ETH and ${shownAmount(income.token)} DEMO`,
  );
  await expectHoldings(stage, { network }, account.address, income);

  const [alice, bob, carol] = ['Alice', 'Bob', 'Carol'].map((name) => demoMember(demo, name));
  expect(alice !== undefined && bob !== undefined && carol !== undefined, 'three people approve');
  const dave = demoMember(demo, 'Dave');
  const items = [{ name: stage.named('Treasurers'), memberIds: [alice.id, bob.id, carol.id] }];
  const [groupId = ''] = resultIds(await carryOut(stage, { type: 'groups.create', items }), 1);
  const base = {
    networkId: network.id,
    accountIds: [account.id],
    initiatorSetting: { type: 'user' as const, memberId: dave.id },
  };
  const policies = policiesOf(stage, base, groupId, carol.id, token);
  const added = await carryOut(stage, { type: 'policies.add', policies });
  const [petty = '', invoices = '', burning = ''] = resultIds(added, 3);
  const policyIds = { petty, invoices, burning };
  return { account, network, token, dave, approvers: { alice, bob }, groupId, policyIds };
}

/** The remaining budget of a policy for a transaction, from a dry run. */
async function printRest(
  { client, print }: Stage,
  { policyId, ...asked }: TransactionRequest,
): Promise<void> {
  const answers = await client.evaluatePolicies(asked);
  const answer = answers.find(({ policy }) => policy.id === policyId);
  const remaining = answer?.remaining;
  const amount = remaining && 'amount' in remaining ? remaining.amount : undefined;
  expect(
    answer !== undefined && amount !== undefined,
    `a dry run should report the remaining budget of ${policyId}`,
  );
  const outcome = answer.allowed ? 'permits it' : 'does not permit it';
  print.line('dry run', `${answer.policy.name} ${outcome}: ${shownAmount(BigInt(amount))} DEMO remaining`);
}

/** Transfers on one signature, until the budget is used up. */
export async function pettyCash(stage: Stage, purse: Purse): Promise<void> {
  const { print } = stage;
  const { account, network, dave, policyIds } = purse;
  print.chapter('Transfers without approval, up to a budget');
  const to = newAddress();
  const transfer = (amount: bigint) => request(purse, policyIds.petty, tokenTransfer(to, amount));
  const sent = async (amount: bigint) =>
    signAs(stage, await ask(stage, account, transfer(amount)), 'initiator', dave, { execute: true });

  await transactionOutcome(stage, await sent(whole(15n)), 'completed');
  await expectHoldings(stage, { network }, to, { native: 0n, token: whole(15n) });

  const refusal = await mustRefuse(
    stage,
    'too much',
    'forbidden',
    stage.client.createTransaction(transfer(PETTY_CASH + 1n)),
  );
  expect(
    refusal.details.failures?.map(({ condition }) => condition).join() === 'amount',
    'the amount should be the only unmet condition',
  );

  await printRest(stage, transfer(whole(5n)));
  await transactionOutcome(stage, await sent(whole(5n)), 'completed');
  print.line('', 'Now the budget of the day is used up:');
  await printRest(stage, transfer(1n));
  const blocked = await transactionOutcome(stage, await sent(1n), 'blocked');
  expect(blocked.failure?.code === 'budget', `${blocked.id} should be blocked for its budget`);
  const closed = await signAs(stage, blocked, 'reject', dave, { execute: true, reason: 'too late' });
  await transactionOutcome(stage, closed, 'rejected');
  await expectHoldings(stage, { network }, to, { native: 0n, token: PETTY_CASH });
}

/** A transfer that two of a group approve, and one that two reject. */
export async function twoDecide(stage: Stage, purse: Purse): Promise<void> {
  const { client, print } = stage;
  const { account, network, dave, policyIds } = purse;
  const { alice, bob } = purse.approvers;
  const to = newAddress();
  const transfer = (tokens: bigint, description: string) =>
    request(purse, policyIds.invoices, { to, value: String(whole(tokens)), description });

  print.chapter('A transfer that two must approve');
  const invoice = await ask(stage, account, transfer(1n, 'Invoice 4711'));
  const begun = await signAs(stage, invoice, 'initiator', dave, { execute: true });
  expect(begun.executionStatus === null, `${begun.id} was executed before anybody approved it`);
  const one = await signAs(stage, begun, 'approve', alice, { execute: true });
  const early = client.execute(one, 'approve');
  await mustRefuse(stage, 'too early', 'thresholdNotMet', early);
  const two = await signAs(stage, one, 'approve', bob, { execute: true });
  await transactionOutcome(stage, two, 'completed');
  await expectHoldings(stage, { network }, to, { native: whole(1n), token: 0n });

  print.chapter('A transfer that two reject');
  const unknown = await ask(stage, account, transfer(1n, 'Invoice 4711, once more'));
  const waiting = await signAs(stage, unknown, 'initiator', dave);
  const doubted = await signAs(stage, waiting, 'reject', bob, { reason: 'is paid already' });
  const rejected = await signAs(stage, doubted, 'reject', alice, { execute: true });
  const done = await transactionOutcome(stage, rejected, 'rejected');
  expect(done.result?.transactionHash === undefined, `${done.id} was rejected and is on chain`);
  await expectHoldings(stage, { network }, to, { native: whole(1n), token: 0n });
}

/** A contract call, decoded; and one that would revert, which the simulation detects. */
export async function contractCall(stage: Stage, purse: Purse): Promise<void> {
  const { demo, print } = stage;
  const { account, network, dave, policyIds } = purse;
  print.chapter('A call of a contract');
  const carol = demoMember(demo, 'Carol');
  const before = await holdings(network, account.address as Hex);
  const approved = async (amount: bigint) => {
    const asked = await ask(stage, account, request(purse, policyIds.burning, burn(amount)));
    expect(asked.type === 'CONTRACT_INTERACTION', `${asked.id} should be a call`);
    const { functionName, functionParameters = [] } = asked.data;
    const [parameter] = functionParameters;
    expect(
      functionName === 'burn' && functionParameters.length === 1 && parameter?.value === String(amount),
      `${asked.id} should be decoded as a call of burn`,
    );
    const begun = await signAs(stage, asked, 'initiator', dave);
    return signAs(stage, begun, 'approve', carol, { execute: true });
  };
  await transactionOutcome(stage, await approved(whole(10n)), 'completed');
  const after = { native: before.native, token: before.token - whole(10n) };
  await expectHoldings(stage, purse, account.address, after);

  print.line('', 'A burn of more than the balance reverts in the simulation; nothing is sent:');
  const failed = await transactionOutcome(stage, await approved(whole(1_000n)), 'failed');
  expect(failed.failure?.code === 'reverted', `${failed.id} should have failed because it would revert`);
  expect(failed.chain === undefined, `${failed.id} was sent, though it would revert`);
  const closed = await signAs(stage, failed, 'reject', carol, { execute: true });
  await transactionOutcome(stage, closed, 'rejected');
  await expectHoldings(stage, purse, account.address, after);
}

/** Removes the policies and the group. */
export async function rulesRemoved(stage: Stage, { account, groupId, policyIds }: Purse): Promise<void> {
  const { client, print } = stage;
  print.chapter('The policies are removed');
  await carryOut(stage, { type: 'policies.remove', policyIds: Object.values(policyIds) });
  await carryOut(stage, { type: 'groups.delete', items: [{ id: groupId }] });
  const open = await client.listTransactions({ status: 'queued', accountId: account.id });
  expect(open.length === 0, `${open.length} transactions of ${account.id} are still open`);
}
