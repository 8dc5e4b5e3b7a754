import { z } from 'zod';
import { SCOPES } from '../domain/keyRights';
import { idOf, networkId, timestamp } from '../domain/schemas';
import { dataResponse, instant, nameInput, uniqueList } from './primitives';
import { sessionEndpoint } from './sessionEndpoint';

const scope = z.enum(SCOPES).meta({
  id: 'ApiKeyScope',
  description:
    '`read`: everything; `request`: transactions (create, deliver signatures, execute) and registrations of wallets; ' +
    '`propose`: organization operations (propose, deliver signatures, execute), and the address book; `webhooks`: where events ' +
    'are sent to.',
});

/** IPv4 within IPv6 is written as the IPv4 that it is: callers have it like that. */
const isRange = (text: string) =>
  z.cidrv4().safeParse(text).success || (z.cidrv6().safeParse(text).success && !text.includes('.'));

const addressRange = z
  .string()
  .max(43)
  .refine(isRange, 'must be a range of addresses such as 203.0.113.0/24 or 2001:db8::/32')
  .meta({ id: 'AddressRange', description: 'A range of addresses (CIDR).', examples: ['203.0.113.0/24'] });

const listOrNull = <T extends z.ZodType<string | number>>(item: T) =>
  uniqueList(item, (one) => one)
    .min(1)
    .nullable();
const limits = {
  networkIds: listOrNull(networkId).meta({
    description: 'The networks whose transactions it may request; null: any.',
  }),
  accountIds: listOrNull(idOf('acc')).meta({
    description: 'The accounts whose transactions it may request; null: any.',
  }),
  addressRanges: listOrNull(addressRange).meta({
    description: 'Where its requests may come from; null: anywhere.',
  }),
};

/** The body of `POST /api-keys`. */
export const newApiKey = z
  .strictObject({
    name: nameInput,
    memberIds: uniqueList(idOf('mem'), (id) => id)
      .min(1)
      .meta({ description: 'Members of type `api`, for whom it acts.' }),
    scopes: uniqueList(scope, (one) => one).min(1),
    networkIds: limits.networkIds.default(null),
    accountIds: limits.accountIds.default(null),
    addressRanges: limits.addressRanges.default(null),
    expiresAt: instant
      .nullable()
      .default(null)
      .meta({ description: 'Until when it is valid; null: until it is revoked.' }),
  })
  .check(({ value, issues }) => {
    if (!value.scopes.includes('propose') || (!value.networkIds && !value.accountIds)) return;
    const message =
      'cannot have "propose" with networkIds or accountIds: an operation is about the whole organization';
    issues.push({ code: 'custom', message, input: value.scopes, path: ['scopes'] });
  })
  .meta({ id: 'NewApiKeyRequest' });

const apiKeyFields = {
  id: idOf('key'),
  name: z
    .string()
    .nullable()
    .meta({ description: 'Null for a key that an operator has issued without one.' }),
  prefix: z.string().meta({ description: 'Its first characters.', examples: ['ow_live_aB3d'] }),
  memberIds: z.array(idOf('mem')),
  scopes: z.array(scope),
  ...limits,
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable().meta({ description: 'Written once a minute.' }),
  revokedAt: timestamp.nullable(),
};
const apiKey = z
  .strictObject(apiKeyFields)
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' });
const issuedApiKey = z
  .strictObject({ ...apiKeyFields, key: z.string().meta({ description: 'The key: shown only here.' }) })
  .meta({ id: 'IssuedApiKey' });

/** An API key in responses. */
export type ShownApiKey = z.input<typeof apiKey>;

export const listApiKeysEndpoint = sessionEndpoint({
  id: 'listApiKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List the API keys',
  description:
    'Returns the keys of the organization, without their secrets, newest first: those that are valid and the newest others, 200 at ' +
    'most. Requires the session of an admin.',
  response: dataResponse(z.array(apiKey)).meta({ id: 'ApiKeysResponse' }),
});

export const createApiKeyEndpoint = sessionEndpoint({
  id: 'createApiKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Issue an API key',
  description:
    'Returns the key: the only time that it can be seen. An organization has at most 100 that are valid. Audited. Requires the ' +
    'session of an admin.',
  body: newApiKey,
  exampleBody: {
    name: 'Payroll',
    memberIds: ['mem_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    scopes: ['read', 'request'],
    accountIds: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'],
    addressRanges: ['203.0.113.0/24'],
  },
  response: dataResponse(issuedApiKey),
  status: 201,
  errors: ['unauthorized', 'conflict'],
});

export const revokeApiKeyEndpoint = sessionEndpoint({
  id: 'revokeApiKey',
  method: 'delete',
  path: '/api-keys/{apiKeyId}',
  summary: 'Revoke an API key',
  description:
    'From now on it is refused, and nothing that it has requested takes effect any more. Audited. Requires the session of an admin.',
  params: { apiKeyId: 'key' },
  response: dataResponse(apiKey),
});
