import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import type { Policy } from '../../../src/domain/policy';
import { type PastTransaction, replayPolicy } from '../../../src/domain/policyImpact';
import { anAddress, anId } from '../../support/builders';

const NATIVE = `0x${'0'.repeat(40)}`;
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
const ACCOUNT = { id: anId('acc'), networkIds: [1] };
const ALICE = {
  id: anId('mem'),
  name: 'Alice',
  type: 'user',
  walletAddress: anAddress(),
  walletKind: 'key',
} as const;
const [SHOP, BAKERY] = [anAddress(), anAddress()];

/** A transfer of the native currency so many hours after the first one. */
function transfer(hours: number, amount: bigint, more: Partial<PastTransaction> = {}, destination = SHOP) {
  const call = { to: destination, value: amount, data: '0x' };
  return {
    id: anId('txn'),
    createdAt: new Date(BEGIN_MS + hours * HOUR_MS),
    counts: true,
    account: ACCOUNT,
    accountId: ACCOUNT.id,
    networkId: 1,
    initiatorId: ALICE.id,
    content: { type: 'TOKEN_TRANSFER', tokenAddress: NATIVE, destination, amount },
    nested: nestedCallsOf(call),
    ...more,
  } as PastTransaction;
}

/** At most 10 each, and together within a day. */
const policy = (change: Partial<Policy> = {}): Policy =>
  ({
    id: anId('pol'),
    name: 'Petty cash',
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: 1,
    accountIds: null,
    initiatorSetting: null,
    limitation: {
      hours: 24,
      initiatorScope: 'ALL_ITEMS',
      sourceAccountScope: 'ALL_ITEMS',
      destinationScope: 'ALL_ITEMS',
    },
    tokenTransferCondition: {
      tokenAddress: NATIVE,
      tokenSymbol: 'ETH',
      tokenName: 'Ether',
      tokenDecimals: 18,
      amountThreshold: '10',
      destinationAddresses: [],
    },
    ...change,
  }) as Policy;

const failuresOf = (one: Policy, past: readonly PastTransaction[]) =>
  [
    ...replayPolicy(one, past, {
      members: new Map([[ALICE.id, ALICE]]),
      groups: new Map(),
      isRestricted: () => false,
      nativeAssetOn: () => ({ symbol: 'ETH', decimals: 18 }),
    }),
  ].map(({ failures }) => failures.map(({ condition }) => condition));

it('uses a budget up by what it would have permitted, until that has left the window', () => {
  const past = [
    transfer(0, 6n),
    transfer(1, 11n),
    transfer(2, 5n),
    transfer(3, 4n),
    transfer(24, 5n),
    transfer(24.5, 6n),
  ];
  expect(failuresOf(policy(), past)).toEqual([[], ['amount', 'budget'], ['budget'], [], ['budget'], []]);
});

it('does not count what was never executed and cannot be any more', () => {
  const past = [transfer(0, 6n, { counts: false }), transfer(1, 6n), transfer(2, 6n)];
  expect(failuresOf(policy(), past)).toEqual([[], [], ['budget']]);
});

it('counts for each initiator, account and destination apart where the policy does', () => {
  const past = [transfer(0, 6n), transfer(1, 6n, {}, BAKERY), transfer(2, 6n)];
  const apart = {
    hours: 24,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'PER_ITEM',
  } as const;
  expect(failuresOf(policy({ limitation: apart }), past)).toEqual([[], [], ['budget']]);
});

it('counts executions where no amount limits them', () => {
  const past = [transfer(0, 1n), transfer(1, 1n), transfer(25, 1n)];
  const any = policy();
  Object.assign((any as never as { tokenTransferCondition: object }).tokenTransferCondition, {
    amountThreshold: null,
  });
  expect(failuresOf(any, past)).toEqual([[], ['budget'], []]);
});

it('refuses who is not a member now, another network and another account', () => {
  const stranger = transfer(0, 1n, { initiatorId: anId('mem') });
  const elsewhere = transfer(1, 1n, { networkId: 2 });
  const other = policy({ accountIds: [anId('acc')], limitation: undefined } as never);
  expect(failuresOf(policy(), [stranger, elsewhere])).toEqual([['initiator'], ['network']]);
  expect(failuresOf(other, [transfer(2, 1n)])).toEqual([['account']]);
});
