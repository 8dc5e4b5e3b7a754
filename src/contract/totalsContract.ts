import { z } from 'zod';
import { amount, networkId, timestamp } from '../domain/schemas';
import { asset, displayAmount } from './accountContract';
import { endpoint } from './endpoint';
import { dataResponse } from './primitives';

const total = z
  .object({
    networkId,
    asset,
    rawAmount: amount.meta({ description: 'In the smallest unit.' }),
    displayAmount,
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
    'transactions name. What could not be read is in `missing`, and not in the sums.',
  params: {},
  query: z.strictObject({}),
  response: dataResponse(
    z.object({ totals: z.array(total), missing: z.array(missing) }).meta({ id: 'Totals' }),
  ),
  status: 200,
  errors: [],
});
