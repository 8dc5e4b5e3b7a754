import { z } from 'zod';
import { endpoint } from './endpoint';
import {
  address,
  envelope,
  idInput,
  listOf,
  MAX_ITEMS,
  nameInput,
  networkId,
  networkIdsInput,
  noDuplicates,
  pageQuery,
  timestamp,
} from './primitives';
import { proposeEndpoint } from './proposals';

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

const balance = z
  .object({
    networkId,
    asset: z.object({
      id: z.string().meta({ description: '`<networkId>:<tokenAddress>`' }),
      symbol: z.string(),
      name: z.string().nullable(),
      logoUrl: z.string().nullable(),
      decimals: z.int(),
      tokenAddress: address.meta({ description: 'The zero address for the native coin.' }),
    }),
    rawAmount: z
      .string()
      .nullable()
      .meta({ description: 'In the smallest unit; null while the chain is away.' }),
    displayAmount: z.string().nullable(),
    unavailable: z.literal(true).optional(),
  })
  .meta({ id: 'Balance' });

/** What only a response has: taken back and ignored, so that what was read can be sent. */
const responseOnly = {
  address: z.unknown().optional(),
  networks: z.unknown().optional(),
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
};

const createItem = z
  .strictObject({ name: nameInput, networkIds: networkIdsInput, ...responseOnly })
  .transform(({ name, networkIds }) => ({ name, networkIds }));

const updateItem = z
  .strictObject({
    id: idInput('acc'),
    name: nameInput.optional(),
    networkIds: networkIdsInput.optional().meta({ description: 'Networks to add.' }),
    ...responseOnly,
  })
  .refine((item) => item.name !== undefined || item.networkIds !== undefined, 'changes nothing')
  .transform(({ id, name, networkIds }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(networkIds === undefined ? {} : { networkIds }),
  }));

export const createAccountsBody = z.strictObject({
  items: z
    .array(createItem)
    .min(1)
    .max(MAX_ITEMS)
    .check(
      noDuplicates((item) => JSON.stringify([item.name, [...item.networkIds].sort((one, two) => one - two)])),
    ),
});

export const updateAccountsBody = z.strictObject({
  items: z
    .array(updateItem)
    .min(1)
    .max(MAX_ITEMS)
    .check(noDuplicates((item) => item.id, ['id'])),
});

export const createAccountsEndpoint = proposeEndpoint('accounts', {
  id: 'proposeAccountsCreate',
  path: '/accounts/proposals/create',
  summary: 'Propose new accounts',
  description: 'Each account gets one address, the same on every network.',
  body: createAccountsBody,
  exampleBody: { items: [{ name: 'Treasury', networkIds: [31337, 31338] }] },
});

export const updateAccountsEndpoint = proposeEndpoint('accounts', {
  id: 'proposeAccountsUpdate',
  path: '/accounts/proposals/update',
  summary: 'Propose changes of accounts',
  description: '`networkIds` are the networks to add.',
  body: updateAccountsBody,
  exampleBody: { items: [{ id: 'acc_01jz8k3v5fe5ht0n2m6w9r4xyz', name: 'Treasury', networkIds: [31338] }] },
});

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
