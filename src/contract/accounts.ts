import { z } from 'zod';
import { endpoint } from './endpoint';
import { address, envelope, listOf, networkId, pageQuery, timestamp } from './primitives';

const account = z
  .object({
    id: z.string(),
    name: z.string(),
    address,
    networks: z
      .array(z.object({ id: networkId, name: z.string() }))
      .meta({ description: 'The networks it is deployed on.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Account' });

/** A native coin or a token. */
export const asset = z
  .object({
    id: z.string().meta({ description: '`<networkId>:<tokenAddress>`' }),
    symbol: z.string(),
    name: z.string().nullable(),
    logoUrl: z.string().nullable(),
    decimals: z.int(),
    tokenAddress: address.meta({ description: 'The zero address for the native coin.' }),
  })
  .meta({ id: 'Asset' });

const balance = z
  .object({
    networkId,
    asset,
    rawAmount: z
      .string()
      .nullable()
      .meta({ description: 'In the smallest unit; null while the chain is away.' }),
    displayAmount: z.string().nullable(),
    unavailable: z.literal(true).optional(),
  })
  .meta({ id: 'Balance' });

export const listAccountsEndpoint = endpoint({
  id: 'listAccounts',
  tag: 'Accounts',
  method: 'get',
  path: '/accounts',
  access: 'read',
  summary: 'Get all accounts',
  description: 'Returns every account, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(pageQuery),
  response: listOf(account),
  status: 200,
  errors: [],
});

export const getAccountEndpoint = endpoint({
  id: 'getAccount',
  tag: 'Accounts',
  method: 'get',
  path: '/accounts/{accountId}',
  access: 'read',
  summary: 'Get an account',
  params: { accountId: 'acc' },
  query: z.strictObject({}),
  response: envelope(account),
  status: 200,
  errors: ['notFound'],
});

export const getBalancesEndpoint = endpoint({
  id: 'getAccountBalances',
  tag: 'Accounts',
  method: 'get',
  path: '/accounts/{accountId}/balances',
  access: 'read',
  summary: 'Get the balances of an account',
  description:
    'The native coin and the tokens the organization knows, on every network of the account. Amounts are null and ' +
    '`unavailable` is true while a chain is away.',
  params: { accountId: 'acc' },
  query: z.strictObject({}),
  response: envelope(z.array(balance)),
  status: 200,
  errors: ['notFound'],
});

/** One balance in a response. */
export type Balance = z.infer<typeof balance>;
