import { z } from 'zod';
import { amount, idOf, networkId, timestamp } from '../domain/schemas';
import { asset } from './accountContract';
import { endpoint } from './endpoint';
import { dataResponse, instant } from './primitives';

const signedAmount = z
  .string()
  .regex(/^-?(0|[1-9][0-9]*)$/)
  .meta({
    id: 'SignedAmount',
    description: 'Amount in the smallest unit, decimal, with `-` where it is negative.',
    examples: ['-1500000'],
  });

const block = z.int().min(0);

const unexplained = z.object({ fromBlock: block, toBlock: block, amount: signedAmount }).meta({
  id: 'Unexplained',
  description:
    'Blocks from the first to the last in which the balance has changed so much without a movement.',
});

const assetStatement = z
  .object({
    networkId,
    asset,
    fromBlock: block.meta({ description: 'The first block of the period.' }),
    toBlock: block.meta({
      description: 'The last one; one less than `fromBlock` where the period has none.',
    }),
    movements: z.int().min(0).meta({ description: 'How many were confirmed in these blocks.' }),
    opening: amount
      .nullable()
      .meta({ description: 'The balance on chain before the first block; null where it is not known.' }),
    in: z.string().meta({ description: 'The sum of what came in.' }),
    out: z.string().meta({ description: 'The sum of what went out, without fees.' }),
    fees: z.string().meta({ description: 'The sum of what the account paid for executions.' }),
    closing: amount.nullable().meta({
      description: 'The balance on chain at the end of the last block; null where it is not known.',
    }),
    difference: signedAmount.nullable().meta({
      description:
        '`closing` less `opening`, `in`, `out` and `fees`: `0` where all is explained. null where it is not compared.',
    }),
    unexplained: z.array(unexplained).meta({ description: 'The difference in its blocks.' }),
    unproved: z
      .enum(['unreadable', 'pruned', 'unavailable'])
      .optional()
      .meta({
        id: 'Unproved',
        description:
          'Why it is not compared. `unreadable`: the token returns no balance. `pruned`: the node has no state of these blocks. ' +
          '`unavailable`: it does not answer. Absent where it is.',
      }),
  })
  .meta({ id: 'AssetStatement', description: 'What moved of one asset on one network in a period.' });

const statement = z
  .object({
    accountId: idOf('acc'),
    from: timestamp.nullable().meta({ description: 'null: from the first block of the account.' }),
    to: timestamp.nullable().meta({ description: 'null: up to the last block that is read.' }),
    assets: z.array(assetStatement),
  })
  .meta({ id: 'Statement', description: 'What moved in a period, compared with the balances on chain.' });

export const getStatementEndpoint = endpoint({
  id: 'getStatement',
  tag: 'Movements',
  method: 'get',
  path: '/accounts/{accountId}/statement',
  access: 'read',
  summary: 'Get the statement of an account',
  description:
    'Adds up what moved of each verified asset in a period, and compares it with the balances on chain at its first and last ' +
    'block. What no movement explains is found by bisection. Its rows are the confirmed movements of the period. 409 where the period is ' +
    'not read yet.',
  params: { accountId: 'acc' },
  query: z.strictObject({
    from: instant
      .optional()
      .meta({ description: 'Blocks at or after this time. Absent: from the first of the account.' }),
    to: instant
      .optional()
      .meta({ description: 'Blocks before this time. Absent: up to the last that is read.' }),
  }),
  response: dataResponse(statement),
  status: 200,
  errors: ['notFound', 'conflict'],
});

/** The statement of one asset in a response. */
export type ShownAssetStatement = z.input<typeof assetStatement>;
