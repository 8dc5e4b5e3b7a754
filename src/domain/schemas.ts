import { z } from 'zod';
import { addressSchema, amountSchema, networkIdSchema } from './policy';

const ID_SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** What each kind of id names. */
const ID_KINDS = {
  mem: 'member',
  grp: 'group',
  pol: 'policy',
  acc: 'account',
  adm: 'admins',
  adr: 'addressBookEntry',
  whk: 'webhook',
  chn: 'channel',
  prop: 'proposal',
  txn: 'transaction',
  ses: 'session',
  key: 'apiKey',
  mov: 'movement',
} as const;

/** The kinds of id that a path can name. */
export type PathIdPrefix = keyof typeof ID_KINDS;

/** What a path parameter is: a kind of id, or an address. */
export type PathParameter = PathIdPrefix | 'address';

/** True when a text has the shape of an id of that kind (TypeID: prefix and 26 characters of base32). */
export function isId(prefix: PathIdPrefix, text: string): boolean {
  return new RegExp(`^${prefix}_${ID_SUFFIX}$`).test(text);
}

/** Upper-cases the first letter of a word. */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The name of an id in the document, such as `MemberId`. */
export function idName(prefix: PathIdPrefix): string {
  return `${capital(ID_KINDS[prefix])}Id`;
}

function idSchema(prefix: PathIdPrefix) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_${ID_SUFFIX}$`), `must be an id that begins with ${prefix}_`)
    .meta({
      id: idName(prefix),
      description: `Id of the ${ID_KINDS[prefix]}.`,
      examples: [`${prefix}_01jz8k3v5fe5ht0n2m6w9r4xyz`],
    });
}

const ID_SCHEMAS: { readonly [Prefix in PathIdPrefix]: ReturnType<typeof idSchema> } = {
  mem: idSchema('mem'),
  grp: idSchema('grp'),
  pol: idSchema('pol'),
  acc: idSchema('acc'),
  adm: idSchema('adm'),
  adr: idSchema('adr'),
  whk: idSchema('whk'),
  chn: idSchema('chn'),
  prop: idSchema('prop'),
  txn: idSchema('txn'),
  ses: idSchema('ses'),
  key: idSchema('key'),
  mov: idSchema('mov'),
};

/** The id of a record, in requests and responses. */
export function idOf(prefix: PathIdPrefix) {
  return ID_SCHEMAS[prefix];
}

// `register` documents a schema of the domain itself, so that what the domain builds from it refers to its name.

/** The EIP-155 chain id of a network. */
export const networkId = networkIdSchema.register(z.globalRegistry, {
  id: 'NetworkId',
  description: 'EIP-155 chain id of the network.',
  examples: [31337],
});

/** A point in time in a response: ISO 8601, UTC, milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta({
  id: 'Timestamp',
  description: 'ISO 8601, UTC, with milliseconds.',
  examples: ['2025-06-01T12:00:00.000Z'],
});

/** The version of a resource in the data of a proposal. */
export const revision = z
  .int()
  .min(0)
  .meta({
    id: 'Revision',
    description:
      'The version of the resource that this changes: how many decisions of the organization preceded it. Once the ' +
      'resource has another one, the proposal can no longer be executed.',
  });

export const EXAMPLE_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** An address in a response, checksummed (EIP-55). */
export const address = addressSchema.register(z.globalRegistry, {
  id: 'Address',
  description: 'Checksummed address (EIP-55).',
  examples: [EXAMPLE_ADDRESS],
});

/** An amount in the smallest unit: plain decimal digits below 2^256. */
export const amount = amountSchema.register(z.globalRegistry, {
  id: 'Amount',
  description: 'Amount in the smallest unit (wei for ETH): decimal digits, below 2^256.',
  pattern: '^(0|[1-9][0-9]{0,77})$',
  examples: ['1500000'],
});

export const memberType = z
  .enum(['user', 'api'])
  .meta({ id: 'MemberType', description: '`user`: a person; `api`: a bot.' });

export const walletKind = z.enum(['key', 'contract']).meta({
  id: 'WalletKind',
  description:
    'What verifies the signatures of a wallet. `key`: the key of its address (ECDSA), whatever code is there. ' +
    '`contract`: the contract at its address (EIP-1271).',
});

export const memberName = z.string().meta({ examples: ['Dave'] });

export const memberSummary = z
  .object({
    id: idOf('mem'),
    name: memberName,
    type: memberType,
    walletAddress: address,
    walletKind,
    revision: revision.optional(),
    createdAt: timestamp.optional(),
    updatedAt: timestamp.optional(),
  })
  .meta({
    id: 'MemberSummary',
    description:
      'A member. The timestamps are present only in responses that create a proposal, `revision` only where one removes the member.',
  });

export const adminThreshold = z
  .int()
  .min(1)
  .meta({
    id: 'AdminThreshold',
    description: 'Number of admins who must approve or reject.',
    examples: [2],
  });

export const accountName = z.string().meta({ examples: ['Treasury'] });
