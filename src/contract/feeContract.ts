import { z } from 'zod';
import { amount, idOf, networkId } from '../domain/schemas';
import { asset, displayAmount } from './accountContract';
import { endpoint } from './endpoint';
import { instant, networkIdQuery, pageOf, pageQuery } from './primitives';

const feeSums = {
  paid: amount.meta({ description: 'What the relayers have paid, in wei or its equivalent.' }),
  gasUsed: amount.meta({ description: 'Gas.' }),
  dataFee: amount.meta({
    description: 'Of `paid`, what a rollup charges beside the gas: for data, and for its operator.',
  }),
  chainTransactions: z.int().min(1).meta({ description: 'How many were included in a block.' }),
  unknown: z
    .int()
    .min(0)
    .meta({ description: 'Of how many a node did not say what they cost: `paid` lacks these.' }),
};

/** What the relayers have paid for a transaction. */
export const paidFees = z.object(feeSums).meta({
  id: 'PaidFees',
  description:
    'What the relayers have paid for all its chain transactions that were included in a block: also those that reverted, and ' +
    'the cancellation. Absent before the first one has its confirmations.',
});

const fee = z
  .object({
    month: z
      .string()
      .regex(/^\d{4}-\d\d$/)
      .meta({ description: 'Of the time of the block, UTC.', examples: ['2025-06'] }),
    networkId,
    accountId: idOf('acc').nullable(),
    policyId: idOf('pol').nullable().meta({ description: 'null for what is under none.' }),
    kind: z.enum(['transaction', 'cancellation', 'deployment', 'filler', 'upkeep']).meta({
      id: 'FeeKind',
      description:
        "What the chain transactions were for: a transaction, the empty call that cancels one, the deployment of an account, or what keeps the admins' Safe. " +
        'Programs have to expect further ones.',
    }),
    asset: asset
      .nullable()
      .meta({ description: 'The native currency; null if the network is not configured any more.' }),
    displayAmount: displayAmount
      .nullable()
      .meta({ description: '`paid` in whole units, exact; null if the network is not configured any more.' }),
    ...feeSums,
  })
  .meta({
    id: 'Fee',
    description: 'What relayers have paid for an account under a policy on a network in a month.',
  });

export const listFeesEndpoint = endpoint({
  id: 'listFees',
  tag: 'Fees',
  method: 'get',
  path: '/fees',
  access: 'read',
  summary: 'List what relayers have paid',
  description:
    'Returns a page of sums, the newest month first: of every chain transaction of a relayer that was included in a block, ' +
    'those that reverted too. A payment to relayers follows from none of it.',
  params: {},
  query: z.strictObject({
    ...pageQuery,
    from: instant.optional().meta({ description: 'Only blocks of this time or later.' }),
    to: instant.optional().meta({ description: 'Only blocks before this time.' }),
    accountId: idOf('acc').optional().meta({ description: 'Only of this account.' }),
    policyId: idOf('pol').optional().meta({ description: 'Only under this policy.' }),
    networkId: networkIdQuery.optional().meta({ description: 'Only on this network.' }),
  }),
  response: pageOf(fee),
  status: 200,
  errors: [],
});
