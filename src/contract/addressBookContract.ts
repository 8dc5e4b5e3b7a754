import { z } from 'zod';
import { looksLikeAddress } from '../domain/names';
import { address, EXAMPLE_ADDRESS, idOf, networkId, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { dataResponse, listOf, listQuery, nameInput, nonzeroAddressInput } from './primitives';

/** The longest file that is imported, in characters: it fits in a body. */
const MAX_CSV_LENGTH = 500_000;

const addressBookEntry = z
  .object({
    id: idOf('adr'),
    name: z.string().meta({ examples: ['ACME Ltd'] }),
    address,
    networkId: networkId.nullable().meta({ description: 'null: the name is for every network.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({
    id: 'AddressBookEntry',
    description:
      'The name of an address, for display only: nothing that is signed contains it, and no policy depends on it.',
  });

const entryNetwork = networkId
  .nullable()
  .optional()
  .meta({ description: 'The network that the address is for; null or absent: every one.' });

const entryResponse = dataResponse(addressBookEntry);
const params = { entryId: 'adr' } as const;
const noQuery = z.strictObject({});

/** The name of an address in a request: one that is not taken for another address. */
export const entryNameInput = nameInput
  .refine((name) => !looksLikeAddress(name), 'must not look like an address')
  .meta({
    ...nameInput.meta(),
    id: 'AddressBookName',
    description:
      '1 to 100 characters, as in Name; not what could be taken for an address, such as `0x7099…79C8`.',
    examples: ['ACME Ltd'],
  });

const searchInput = z
  .string()
  .min(1)
  .max(200)
  .meta({ id: 'AddressBookText', maxLength: 200, examples: ['acme'] });

export const listAddressBookEndpoint = endpoint({
  id: 'listAddressBook',
  tag: 'AddressBook',
  method: 'get',
  path: '/address-book',
  access: 'read',
  summary: 'List the names of addresses',
  description: 'Returns all entries, newest first. With `limit` or `cursor` it returns a page.',
  params: {},
  query: z.strictObject({
    ...listQuery,
    text: searchInput.optional().meta({
      description: 'Only entries whose name or address contains it. Upper and lower case are the same.',
    }),
  }),
  response: listOf(addressBookEntry),
  status: 200,
  errors: [],
});

export const getAddressBookEntryEndpoint = endpoint({
  id: 'getAddressBookEntry',
  tag: 'AddressBook',
  method: 'get',
  path: '/address-book/{entryId}',
  access: 'read',
  summary: 'Get the name of an address',
  params,
  query: noQuery,
  response: entryResponse,
  status: 200,
  errors: ['notFound'],
});

const WHO = 'For an admin, at once and without signatures: names are for display only.';

export const createAddressBookEntryEndpoint = endpoint({
  id: 'createAddressBookEntry',
  tag: 'AddressBook',
  method: 'post',
  path: '/address-book',
  access: 'admin',
  summary: 'Name an address',
  description:
    `${WHO} No two entries have the same name, whatever its case, or the same address and network; and none has the name of a ` +
    'member or an account with another address. An organization has at most 2,000 entries.',
  params: {},
  query: noQuery,
  body: z.strictObject({ name: entryNameInput, address: nonzeroAddressInput, networkId: entryNetwork }),
  exampleBody: { name: 'ACME Ltd', address: EXAMPLE_ADDRESS, networkId: null },
  response: entryResponse,
  status: 200,
  errors: ['forbidden'],
});

export const updateAddressBookEntryEndpoint = endpoint({
  id: 'updateAddressBookEntry',
  tag: 'AddressBook',
  method: 'post',
  path: '/address-book/{entryId}/update',
  access: 'admin',
  summary: 'Change the name of an address',
  description: `${WHO} What the body does not have stays as it is.`,
  params,
  query: noQuery,
  body: z.strictObject({
    name: entryNameInput.optional(),
    address: nonzeroAddressInput.optional(),
    networkId: entryNetwork.meta({ description: 'The network that the address is for; null: every one.' }),
  }),
  exampleBody: { name: 'ACME Holding' },
  response: entryResponse,
  status: 200,
  errors: ['forbidden', 'notFound'],
});

export const removeAddressBookEntryEndpoint = endpoint({
  id: 'removeAddressBookEntry',
  tag: 'AddressBook',
  method: 'post',
  path: '/address-book/{entryId}/remove',
  access: 'admin',
  summary: 'Remove the name of an address',
  description: `${WHO} Returns what was removed.`,
  params,
  query: noQuery,
  body: z.strictObject({}),
  exampleBody: {},
  response: entryResponse,
  status: 200,
  errors: ['forbidden', 'notFound'],
});

const csvText = z.string();

export const importAddressBookEndpoint = endpoint({
  id: 'importAddressBook',
  tag: 'AddressBook',
  method: 'post',
  path: '/address-book/import',
  access: 'admin',
  summary: 'Import names of addresses',
  description:
    'Reads a CSV file (RFC 4180) of at most 1,000 rows with the columns `address`, with or without the short name of its network ' +
    '(EIP-3770, `eth:0x…`), `name`, and maybe `chainId`. A new address gets an entry, one that has an entry gets the name. All rows, ' +
    'or none: each bad one is in `details.issues` with its line and field, such as `csv[line 3].address`. For an admin.',
  params: {},
  query: noQuery,
  body: z.strictObject({
    csv: csvText
      .min(1)
      .max(MAX_CSV_LENGTH)
      .meta({ description: `The file, at most ${MAX_CSV_LENGTH.toLocaleString('en')} characters.` }),
  }),
  exampleBody: { csv: `address,name\r\neth:${EXAMPLE_ADDRESS},ACME Ltd\r\n` },
  response: dataResponse(
    z
      .object({
        created: z.int().min(0).meta({ description: 'Addresses that had no name.' }),
        updated: z.int().min(0).meta({ description: 'Addresses that have another name now.' }),
        unchanged: z.int().min(0).meta({ description: 'Rows that say what the address book says already.' }),
      })
      .meta({ id: 'AddressBookImport', description: 'What an import did.' }),
  ),
  status: 200,
  errors: ['forbidden'],
});

export const exportAddressBookEndpoint = endpoint({
  id: 'exportAddressBook',
  tag: 'AddressBook',
  method: 'get',
  path: '/address-book/export',
  access: 'read',
  summary: 'Export the names of addresses',
  description:
    "Returns all entries as a CSV file that can be imported again. A name that a spreadsheet would run as a formula has a `'` in " +
    'front, which an import takes away.',
  params: {},
  query: noQuery,
  response: dataResponse(
    z
      .object({
        csv: csvText.meta({ examples: [`address,name,chainId\r\neth:${EXAMPLE_ADDRESS},ACME Ltd,1\r\n`] }),
      })
      .meta({ id: 'AddressBookExport', description: 'An address book as a file.' }),
  ),
  status: 200,
  errors: [],
});
