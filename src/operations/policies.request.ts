import { policiesBodies } from '../contract/policyContract';

/** Transfers of up to 100 of a token with 18 decimals, each and together within a day. */
export const EXAMPLE_POLICY = {
  name: 'Payroll',
  type: 'MANUAL_APPROVAL',
  transactionType: 'TOKEN_TRANSFER',
  networkId: 31337,
  accountIds: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  limitation: {
    hours: 24,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'PER_ITEM',
    destinationScope: 'ALL_ITEMS',
  },
  initiatorSetting: { type: 'user', memberId: 'mem_01jz8k3v5fe5ht0n2m6w9r4xyz' },
  approverSetting: { type: 'group', groupId: 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz', threshold: 2 },
  tokenTransferCondition: {
    tokenAddress: '0x468f18d57bC8bAE33874e6429638edf9F6F77c41',
    tokenDecimals: 18,
    amountThreshold: '100000000000000000000',
    destinationAddresses: [],
  },
};

export const EXAMPLE_CHANGED_POLICY = { id: 'pol_01jz8k3v5fe5ht0n2m6w9r4xyz', ...EXAMPLE_POLICY };

/** The request that may contain new and changed policies; its kind depends on its items. */
export const mixedRequest = {
  id: 'proposePolicies',
  path: '/policies/proposals',
  summary: 'Propose new policies, changes of policies, or both',
  description:
    'An item without `id` is a new policy; one with `id` replaces that policy completely. Other policies do not ' +
    'change. The action is create if all are new, otherwise update.',
  body: policiesBodies.mixed,
  exampleBody: { policies: [EXAMPLE_POLICY] },
};
