import type { Schema } from '@orgwallet/client';
import { type Account, carryOut, expect, type Group, mustRefuse, resultIds, type Stage } from '../stage';

type AddedPolicy = Schema['AddedPolicy'];

const NATIVE_CURRENCY = '0x0000000000000000000000000000000000000000';
const ONE_TOKEN = 10n ** 18n;

const tokens = (count: bigint) => (count * ONE_TOKEN).toString();

/** The network, token, account and members of the demo's policies. */
interface Setting extends Pick<Stage, 'named'> {
  readonly networkId: number;
  readonly tokenAddress: string;
  readonly accountId: string;
  readonly groupId: string;
  readonly approverId: string;
}

/** A member of the group may send up to 100 DEMO without approval, and the account no more than that in 24 hours. */
function smallPayments({ named, networkId, tokenAddress, accountId, groupId }: Setting): AddedPolicy {
  return {
    name: named('Small payments'),
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId,
    accountIds: [accountId],
    initiatorSetting: { type: 'group', groupId },
    limitation: {
      hours: 24,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'PER_ITEM',
      destinationScope: 'ALL_ITEMS',
    },
    tokenTransferCondition: { tokenAddress, amountThreshold: tokens(100n), destinationAddresses: [] },
  };
}

/** One function of one contract, with the approval of two of the group. */
function burning({ named, networkId, tokenAddress, accountId, groupId }: Setting): AddedPolicy {
  return {
    name: named('Burning'),
    type: 'MANUAL_APPROVAL',
    transactionType: 'CONTRACT_INTERACTION',
    networkId,
    accountIds: [accountId],
    initiatorSetting: null,
    approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: true },
    contractInteractionCondition: [{ contractAddress: tokenAddress, allowedFunctions: ['burn(uint256)'] }],
  };
}

/** Any transaction of any account, with the approval of one person. */
function anythingElse({ named, networkId, approverId }: Setting): AddedPolicy {
  return {
    name: named('Anything else'),
    type: 'MANUAL_APPROVAL',
    transactionType: 'ANY',
    networkId,
    accountIds: null,
    initiatorSetting: null,
    approverSetting: { type: 'user', memberId: approverId },
  };
}

/** Native currency to any address, up to 1 ETH a day. */
function gasMoney({ named, networkId, accountId, groupId }: Setting): AddedPolicy {
  return {
    ...smallPayments({ named, networkId, accountId, groupId, tokenAddress: NATIVE_CURRENCY, approverId: '' }),
    name: named('Gas money'),
    tokenTransferCondition: {
      tokenAddress: NATIVE_CURRENCY,
      amountThreshold: tokens(1n),
      destinationAddresses: [],
    },
  };
}

function without<T extends object>(value: T, key: keyof T): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

/** Creates policies of each variant, adds one, changes one and several at a time, and removes them. */
export async function policies(stage: Stage, account: Account, group: Group): Promise<void> {
  const { client, demo, print } = stage;
  print.chapter('Policies: permitted transactions and their approvers');
  const [network] = demo.networks;
  const token = network?.testTokens[0];
  const [approver] = demo.admins.members;
  expect(network !== undefined && token !== undefined, 'demo.json has no test token');
  expect(approver !== undefined, 'demo.json has no admins');
  const setting: Setting = {
    named: stage.named,
    networkId: network.id,
    tokenAddress: token.address,
    accountId: account.id,
    groupId: group.id,
    approverId: approver.id,
  };
  const readTransfers = async (id: string) => {
    const policy = await client.getPolicy(id);
    expect(policy.transactionType === 'TOKEN_TRANSFER', `${id} should be about transfers`);
    return policy;
  };

  // What the types of the client do not let a program leave out.
  const tooWide = without(smallPayments(setting), 'accountIds') as AddedPolicy;
  const refused = client.proposePoliciesAdd({ policies: [tooWide] });
  await mustRefuse(stage, 'left out', 'validationError', refused);
  print.line('', 'A policy is wide only explicitly: any account is written as null.');

  const created = await carryOut(stage, {
    type: 'policies.change',
    policies: [smallPayments(setting), burning(setting), anythingElse(setting)],
  });
  expect(created.action === 'create', `${created.id} should create policies`);
  const [smallId = '', burningId = '', anythingId = ''] = resultIds(created, 3);
  const small = await readTransfers(smallId);
  const { tokenSymbol, tokenDecimals } = small.tokenTransferCondition;
  print.line('read', `the token reports ${tokenSymbol}, ${tokenDecimals} decimals`);

  const added = await carryOut(stage, { type: 'policies.add', policies: [gasMoney(setting)] });
  const [gasId = ''] = resultIds(added, 1);

  print.line('', 'The policy is sent back with one field changed:');
  const tokenTransferCondition = { ...small.tokenTransferCondition, amountThreshold: tokens(50n) };
  await carryOut(stage, { type: 'policies.update', policies: [{ ...small, tokenTransferCondition }] });
  const smaller = await readTransfers(smallId);
  expect(
    smaller.tokenTransferCondition.amountThreshold === tokens(50n),
    `${smallId} should have a lower maximum`,
  );

  print.line('', 'One proposal changes a policy and adds another:');
  const contractInteractionCondition = [
    { contractAddress: token.address, allowedFunctions: ['burn(uint256)', '0x40c10f19'] },
  ];
  const mixed = await carryOut(stage, {
    type: 'policies.change',
    policies: [
      { id: burningId, ...burning(setting), contractInteractionCondition },
      { ...gasMoney(setting), name: stage.named('More gas money'), accountIds: null },
    ],
  });
  expect(mixed.action === 'update', `${mixed.id} should update policies`);
  const [, moreGasId = ''] = resultIds(mixed, 2);
  const burningNow = await client.getPolicy(burningId);
  expect(burningNow.transactionType === 'CONTRACT_INTERACTION', `${burningId} should be about calls`);
  const functions = burningNow.contractInteractionCondition?.[0]?.functions ?? [];
  print.line('read', `0x40c10f19 is ${functions[1]?.name ?? 'not known'}`);

  const policyIds = [smallId, burningId, anythingId, gasId, moreGasId];
  await carryOut(stage, { type: 'policies.remove', policyIds });
  const left = new Set((await client.listPolicies()).map(({ id }) => id));
  expect(!policyIds.some((id) => left.has(id)), 'a removed policy is still listed');
}
