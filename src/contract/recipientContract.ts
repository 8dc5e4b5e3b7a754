import { z } from 'zod';
import { address, idOf, networkId, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse, instant } from './primitives';

const knownAs = z
  .object({
    type: z
      .enum(['account', 'member', 'policy', 'addressBookEntry'])
      .meta({ id: 'KnownAs', description: '`policy`: it names the address.' }),
    id: z.string().meta({ examples: ['mem_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
    name: z.string().meta({ examples: ['Dave'] }),
    networkId: networkId.optional().meta({ description: 'Of a policy or an entry that is for one network.' }),
  })
  .meta({ id: 'KnownAddress', description: 'Where an organization has an address.' });

const known = z
  .array(knownAs)
  .meta({ description: 'Accounts, members, the address book, policies; at most 100.' });
const count = z.int().min(0).meta({ description: 'Transactions to it that were executed.' });

const lookAlike = z.object({ address, known, count }).meta({
  id: 'LookAlike',
  description: 'A known address with the same first three and last three hex digits.',
});

const recipient = z
  .object({
    address,
    known,
    count,
    firstAt: timestamp
      .nullable()
      .meta({ description: 'Block time of the first one; null where there is none.' }),
    lastAt: timestamp
      .nullable()
      .meta({ description: 'Block time of the last one; null where there is none.' }),
    lastTransactionId: idOf('txn')
      .nullable()
      .meta({ description: 'The last one; null where there is none.' }),
    lookAlikes: z.array(lookAlike).meta({
      description:
        'Other addresses that are known, or were paid, and look like this one: it may have been made to be mistaken for them. At most 20.',
    }),
  })
  .meta({ id: 'Recipient', description: 'What an organization knows of an address.' });

export const getRecipientEndpoint = endpoint({
  id: 'getRecipient',
  tag: 'Recipients',
  method: 'get',
  path: '/recipients/{recipientAddress}',
  access: 'read',
  summary: 'Get what is known of an address',
  description:
    'Returns where the organization has the address, what it has paid to it over its whole history, and known addresses that look ' +
    'like it. Recipients are those of transfers, and the contracts of calls.',
  params: { recipientAddress: 'address' },
  query: z.strictObject({
    before: instant
      .optional()
      .meta({ description: 'Only transactions that were executed before this time.' }),
  }),
  response: dataResponse(recipient),
  status: 200,
  errors: ['notFound'],
});

/** A recipient in a response. */
export type ShownRecipient = z.input<typeof recipient>;
