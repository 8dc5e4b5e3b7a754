import { z } from 'zod';
import { ACCOUNT_RESCUES } from '../domain/adminsSafe';
import { accountName, address, amount, idOf, networkId, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { networkName } from './networkContract';
import { dataResponse, listOf, listQuery } from './primitives';

const rescue = z.enum(ACCOUNT_RESCUES).meta({
  id: 'AccountRescue',
  description:
    'Whether the admins can take it over without this service: `ready`; `pending`: soon; `none`: not there; ' +
    '`takenOver`: they have.',
});
const networkFields = { id: networkId, name: networkName };

/** Networks as a request may repeat them from an account that was read. */
export const accountNetworks = z.array(
  z.object({ ...networkFields, rescue: rescue.optional() }).meta({ id: 'AccountNetworkRead' }),
);

const deployedOn = z
  .array(z.object({ ...networkFields, rescue }).meta({ id: 'AccountNetwork' }))
  .meta({ description: 'The networks on which it is deployed.' });

const account = z
  .object({
    id: idOf('acc'),
    name: accountName,
    address,
    networks: deployedOn,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({
    id: 'Account',
    description: 'A shared wallet: one smart account, with one address on all networks.',
  });

/** The native currency of a network, or a token on it. */
export const asset = z
  .object({
    id: z.string().meta({ description: '`<networkId>:<tokenAddress>`' }),
    symbol: z.string().meta({ description: 'Empty if the token has none that can be shown.' }),
    name: z.string().nullable(),
    logoUrl: z.string().nullable(),
    decimals: z
      .int()
      .min(0)
      .max(255)
      .nullable()
      .meta({
        description: 'null if the token reports none: amounts are in the smallest unit.',
        examples: [18],
      }),
    tokenAddress: address.meta({ description: 'The zero address for the native currency.' }),
  })
  .meta({ id: 'Asset', description: 'The native currency of a network, or a token on it.' });

/** The `id` of an asset in a query. */
export const assetId = z
  .string()
  .regex(/^[1-9][0-9]*:0x[0-9a-fA-F]{40}$/, 'must be <networkId>:<tokenAddress>')
  .max(60);

export const displayAmount = z
  .string()
  .meta({ id: 'DisplayAmount', description: 'Amount in whole units, exact.', examples: ['1.5'] });

const balance = z
  .object({
    networkId,
    asset,
    rawAmount: amount.nullable().meta({ description: 'In the smallest unit; null if unavailable.' }),
    displayAmount: displayAmount
      .nullable()
      .meta({ description: 'In whole units, exact; null if unavailable.' }),
    unavailable: z
      .literal(true)
      .optional()
      .meta({ description: '`true` while the network is unavailable; else absent.' }),
  })
  .meta({ id: 'Balance', description: 'What an account holds of one asset on one network.' });

export const listAccountsEndpoint = endpoint({
  id: 'listAccounts',
  tag: 'Accounts',
  method: 'get',
  path: '/accounts',
  access: 'read',
  summary: 'List accounts',
  description: 'Returns all accounts, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject(listQuery),
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
  response: dataResponse(account),
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
    'Returns the balance of the native currency and of every token that a policy or a past transaction of the ' +
    'account names, on every network of the account. While a network is unavailable, its amounts are null and ' +
    '`unavailable` is true.',
  params: { accountId: 'acc' },
  query: z.strictObject({}),
  response: dataResponse(z.array(balance)).meta({ id: 'BalancesResponse' }),
  status: 200,
  errors: ['notFound'],
});

/** One balance in a response. */
export type Balance = z.infer<typeof balance>;
