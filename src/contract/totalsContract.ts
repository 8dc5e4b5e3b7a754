import { z } from 'zod';
import { networkId, timestamp } from '../domain/schemas';
import { asset, displayAmount } from './accountContract';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

/** A sum may be above 2^256. */
const sum = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/)
  .meta({
    description: 'In the smallest unit, decimal digits; a sum may be 2^256 or more.',
    examples: ['1500000'],
  });
const decimal = z.string().regex(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/);

const value = z
  .object({
    amount: decimal.meta({ description: 'In the currency of `prices`, exact.', examples: ['2971.23'] }),
    price: decimal.meta({ description: 'Of one whole unit.', examples: ['2971.23'] }),
    at: timestamp.meta({ description: 'The time of the price.' }),
  })
  .meta({ id: 'Value', description: 'What an amount is worth. For display: no policy reads it.' });

const prices = z
  .object({
    status: z.enum(['current', 'stale', 'broken', 'unavailable']).meta({
      id: 'PricesStatus',
      description:
        'Only `current` ones give values. `stale`: older than 24 h. `broken`: what is there is not a list of prices. `unavailable`: nothing ' +
        'can be read.',
    }),
    currency: z
      .string()
      .nullable()
      .meta({ description: 'Null where no prices have been read.', examples: ['USD'] }),
    at: timestamp.nullable().meta({ description: 'The time of the prices; null where none have been read.' }),
    problem: z.string().nullable().meta({ description: 'What an operator has to correct; null: nothing.' }),
    value: decimal.nullable().meta({
      description: 'The sum of all values, exact: without what has no price; null where none are current.',
    }),
  })
  .meta({ id: 'Prices', description: 'The prices that the installation sets.' });

const total = z
  .object({
    networkId,
    asset,
    rawAmount: sum,
    displayAmount,
    value: value.nullable().meta({ description: 'Null without a price of the last 24 h.' }),
    accounts: z.int().min(0).meta({ description: 'How many accounts hold some of it.' }),
    blockNumber: z.int().min(0).meta({ description: 'The block at which all of them were read.' }),
    blockAt: timestamp.meta({ description: 'Time of that block.' }),
    readAt: timestamp.meta({ description: 'When it was read: up to 5 s ago.' }),
  })
  .meta({ id: 'Total', description: 'What all accounts hold together of one asset on one network.' });

const missing = z
  .object({
    networkId,
    assetId: z.string().nullable().meta({ description: '`id` of the asset; null: of every asset.' }),
    accounts: z.int().min(1).meta({ description: 'Of how many accounts.' }),
    reason: z.enum(['unavailable', 'failed', 'limit']).meta({
      id: 'MissingReason',
      description:
        '`unavailable`: the network does not answer. `failed`: the balance cannot be read. `limit`: of a network 250 accounts and 50 ' +
        'assets are read.',
    }),
  })
  .meta({ id: 'MissingBalances', description: 'What the totals lack.' });

export const getTotalsEndpoint = endpoint({
  id: 'getTotals',
  tag: 'Accounts',
  method: 'get',
  path: '/balances',
  access: 'read',
  summary: 'Get what all accounts hold together',
  description:
    'Returns the sum of each asset on each network: of the native currency, the token list, and the tokens that policies and ' +
    'transactions name. What could not be read is in `missing`, and not in the sums. Values come from the prices that the installation ' +
    'sets, if any.',
  params: {},
  query: z.strictObject({}),
  response: dataResponse(
    z
      .object({
        totals: z.array(total),
        missing: z.array(missing),
        prices: prices.nullable().meta({ description: 'Null where the installation sets no prices.' }),
      })
      .meta({ id: 'Totals' }),
  ),
  status: 200,
  errors: [],
});
