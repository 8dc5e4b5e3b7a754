import { z } from 'zod';
import { address, amount, idOf, networkId, timestamp } from '../domain/schemas';
import { asset, assetId, displayAmount } from './accountContract';
import { endpoint } from './endpoint';
import { addressInput, instant, pageOf, pageQuery, transactionHash } from './primitives';

const direction = z.enum(['in', 'out']).meta({ id: 'MovementDirection' });

const status = z.enum(['pending', 'confirmed', 'reversed']).meta({
  id: 'MovementStatus',
  description:
    '`pending`: in a block without the confirmations of the network. `reversed`: its block is no longer on the chain; where ' +
    'another one has it, the same movement is pending or confirmed again.',
});

const counterparty = z
  .object({
    address,
    kind: z.enum(['account', 'member', 'addressBookEntry', 'policy', 'none', 'unknown']).meta({
      id: 'CounterpartyKind',
      description:
        'Where the organization has the address. `policy`: one names it as a destination. `none`: the zero address, from which ' +
        'tokens are minted and to which they are burned.',
    }),
    id: z.string().optional().meta({ description: 'Of the account, member, entry or policy.' }),
    name: z
      .string()
      .optional()
      .meta({ examples: ['Dave'] }),
  })
  .meta({ id: 'Counterparty' });

const mark = z.enum(['zeroAmount', 'lookAlikeToken', 'lookAlikeCounterparty']).meta({
  id: 'MovementMark',
  description:
    'What may have been made to be mistaken for something else. `lookAlikeToken`: an unverified token with the symbol or name of ' +
    'a known one. `lookAlikeCounterparty`: an address with the first and last three hex digits of one that is known or was paid.',
});

const movement = z
  .object({
    id: idOf('mov'),
    accountId: idOf('acc'),
    networkId,
    direction,
    kind: z.enum(['native', 'erc20', 'erc721', 'erc1155']).meta({ id: 'MovementKind' }),
    cause: z.enum(['transfer', 'fee']).meta({
      id: 'MovementCause',
      description: '`fee`: what the account has paid whoever executed its transaction.',
    }),
    asset,
    tokenId: z.string().nullable().meta({ description: 'Of ERC-721 and ERC-1155, decimal; else null.' }),
    rawAmount: amount,
    displayAmount,
    counterparty,
    transactionHash,
    logIndex: z.int().min(0),
    blockNumber: z.int().min(0),
    blockAt: timestamp.meta({ description: 'Time of the block.' }),
    status,
    transactionId: idOf('txn')
      .optional()
      .meta({ description: 'The transaction of the organization that it belongs to; else absent.' }),
    verified: z.boolean().meta({
      description:
        'The asset is the native currency, in the token list of the installation, or named by a policy, now or before.',
    }),
    marks: z.array(mark),
  })
  .meta({
    id: 'Movement',
    description: 'A change of what an account holds, as the logs of its chain show it.',
  });

const whose = {
  networkId: z
    .preprocess(
      (text) => (typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : text),
      networkId,
    )
    .optional()
    .meta({ description: 'Only on this network.' }),
  assetId: assetId.optional().meta({ description: 'Only of this asset: its `id`.' }),
  direction: direction.optional().meta({ description: 'Only in, or only out.' }),
  counterparty: addressInput.optional().meta({ description: 'Only from or to this address.' }),
  status: status.optional().meta({ description: 'Absent: all.' }),
  transactionId: idOf('txn')
    .optional()
    .meta({ description: 'Only of this transaction of the organization.' }),
  minimum: amount.optional().meta({ description: 'Only of so much or more, in the smallest unit.' }),
  verified: z.enum(['true', 'false', 'any']).optional().meta({
    description: 'Whether only movements of verified assets are listed, only others, or all.',
    default: 'true',
  }),
  from: instant.optional().meta({ description: 'Only those in blocks at or after this time.' }),
  to: instant.optional().meta({ description: 'Only those in blocks before this time.' }),
  order: z
    .enum(['newest', 'oldest'])
    .optional()
    .meta({ description: 'Which come first.', default: 'newest' }),
};

const csv = z.string().meta({
  id: 'MovementsCsv',
  description: 'All of them, whatever `limit` says, as RFC 4180, with a first line that names the columns.',
});

const CSV = '`Accept: text/csv` streams all of them.';

export const listMovementsEndpoint = endpoint({
  id: 'listMovements',
  tag: 'Movements',
  method: 'get',
  path: '/movements',
  access: 'read',
  summary: 'List movements',
  description: `Returns a page of what came in and went out of all accounts. Of unverified assets only where \`verified\` says so. ${CSV}`,
  params: {},
  query: z.strictObject({
    ...pageQuery,
    accountId: idOf('acc').optional().meta({ description: 'Only of this account.' }),
    ...whose,
  }),
  response: pageOf(movement),
  csv,
  status: 200,
  errors: [],
});

export const listAccountMovementsEndpoint = endpoint({
  id: 'listAccountMovements',
  tag: 'Movements',
  method: 'get',
  path: '/accounts/{accountId}/movements',
  access: 'read',
  summary: 'List the movements of an account',
  description: `Returns a page of what came in and went out. Of unverified assets only where \`verified\` says so. ${CSV}`,
  params: { accountId: 'acc' },
  query: z.strictObject({ ...pageQuery, ...whose }),
  response: listMovementsEndpoint.response,
  csv,
  status: 200,
  errors: ['notFound'],
});

/** A movement in a response. */
export type ShownMovement = z.input<typeof movement>;
