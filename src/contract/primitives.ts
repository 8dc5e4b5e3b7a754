import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../chain/address';
import { ADDRESS_PATTERN } from '../domain/address';
import { codePointText } from '../domain/codePoints';
import { EXAMPLE_ADDRESS, networkId } from '../domain/schemas';

/** The largest number of items in a request or in an inner list. */
export const MAX_ITEMS = 100;

const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const BIDI_CONTROL = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Default-ignorable code points (Unicode DerivedCoreProperties) of the Basic Multilingual Plane. */
const IGNORABLE =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f' +
  '\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8';
/** Interlinear annotation: invisible, though not default-ignorable. */
const ANNOTATION = '\\ufff9-\\ufffb';
const NONCHARACTER = '\\ufdd0-\\ufdef\\ufffe\\uffff';
/** Looks like a space but is not one: the Braille pattern without dots. */
const BLANK = '\\u2800';

/**
 * JSON Schema patterns for text. They use only the syntax common to ECMAScript and Python, so the code points beyond
 * U+FFFF that a name cannot have are left to UNSAFE_IN_NAME.
 */
const TEXT_PATTERN = `^[^${CONTROL}${BIDI_CONTROL}]*$`;
const NAME_PATTERN = `^(?=.*\\S)[^${CONTROL}${IGNORABLE}${ANNOTATION}${NONCHARACTER}${BLANK}]*$`;

const CONTROL_CHARACTER = new RegExp(`[${CONTROL}]`, 'u');
const BIDI_CHARACTER = new RegExp(`[${BIDI_CONTROL}]`, 'u');
const LONE_SURROGATE = /\p{Surrogate}/u;
const UNSAFE_IN_NAME =
  /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb\u2800\u{1d159}\u{13430}-\u{1343f}]/u;

/** The message about a text that has what it must not contain, with the first one: it cannot be seen. */
function containing(text: string, pattern: RegExp, what: string): string | undefined {
  const found = pattern.exec(text);
  if (!found) return undefined;
  const place = [...text.slice(0, found.index)].length + 1;
  return `must not contain ${what}: character ${place} is ${codePointText(found[0])}`;
}

/** What is wrong with a text, or undefined. Lengths are in Unicode code points, not UTF-16 units. */
function textFault(text: string, minimum: number, maximum: number): string | undefined {
  const count = [...text].length;
  if (count < minimum || count > maximum) return `must have ${minimum} to ${maximum} characters`;
  if (LONE_SURROGATE.test(text)) return 'must be well-formed Unicode';
  return (
    containing(text, CONTROL_CHARACTER, 'control characters') ??
    containing(text, BIDI_CHARACTER, 'bidirectional control characters')
  );
}

function nameFault(text: string): string | undefined {
  const fault = textFault(text, 1, 100);
  if (fault) return fault;
  return (
    containing(text, UNSAFE_IN_NAME, 'invisible, blank or noncharacter code points') ??
    (text.trim() === '' ? 'must not be blank' : undefined)
  );
}

function plainText(faultOf: (text: string) => string | undefined) {
  return z.string().check((context) => {
    const message = faultOf(context.value);
    if (message) context.issues.push({ code: 'custom', message, input: context.value });
  });
}

const VISIBLE = 'No control characters, and no default-ignorable, blank or noncharacter code points.';

/** Text in a request of 1 to 100 characters on one line, each of them visible or a space. */
export function visibleText(about: {
  readonly id: string;
  readonly description: string;
  readonly examples: string[];
}) {
  return plainText(nameFault).meta({
    ...about,
    description: `1 to 100 characters. ${VISIBLE} ${about.description}`,
    minLength: 1,
    maxLength: 100,
    pattern: NAME_PATTERN,
  });
}

/** A name in a request. */
export const nameInput = visibleText({
  id: 'Name',
  description: 'No two members, groups, policies or accounts have the same name, whatever its case.',
  examples: ['Treasury'],
});

/** A description in a request: 0 to 1,000 characters on one line. */
export const descriptionInput = plainText((text) => textFault(text, 0, 1_000)).meta({
  id: 'Description',
  description: '0 to 1,000 characters. No control characters.',
  maxLength: 1_000,
  pattern: TEXT_PATTERN,
  examples: ['Salary of May'],
});

/** The reason for a vote: 0 to 500 characters on one line. */
export const reasonInput = plainText((text) => textFault(text, 0, 500)).meta({
  id: 'Reason',
  description: 'Reason for the vote, shown in the audit log. 0 to 500 characters. No control characters.',
  maxLength: 500,
  pattern: TEXT_PATTERN,
  examples: ['Agreed in the board meeting'],
});

const LOWER_OR_UPPER = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/;

/** An address in a request, with or without a checksum; read with its checksum (EIP-55). */
export const addressInput = z
  .string()
  // The checksum function takes addresses only.
  .regex(ADDRESS_PATTERN, { error: 'must be an address: 0x and 40 hex digits', abort: true })
  .refine((text) => LOWER_OR_UPPER.test(text) || checksumAddress(text) === text, 'has a wrong checksum')
  .meta({
    id: 'AddressInput',
    description: 'Address, all lower case, all upper case or with its checksum (EIP-55).',
    examples: [EXAMPLE_ADDRESS],
  });

/** An address in a request that is not the zero address. */
export const nonzeroAddressInput = addressInput
  .refine((text) => !isZeroAddress(text), 'must not be the zero address')
  .meta({
    id: 'NonzeroAddressInput',
    description: 'Address as in AddressInput, not the zero address.',
    not: { const: `0x${'0'.repeat(40)}` },
  });

/** The hash of a chain transaction. */
export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({
    id: 'TransactionHash',
    description: 'Hash of a chain transaction.',
    examples: [`0x${'5e'.repeat(32)}`],
  });

/** Fails on the later of two items that have the same key; `path` is the field inside the item. */
export function noDuplicates<T>(
  keyOf: (item: T) => string | number | undefined,
  path: readonly PropertyKey[] = [],
) {
  return (context: z.core.ParsePayload<T[]>): void => {
    const seen = new Set<string | number>();
    context.value.forEach((item, index) => {
      const key = keyOf(item);
      if (key === undefined) return;
      if (seen.has(key)) {
        context.issues.push({
          code: 'custom',
          message: 'is a duplicate',
          input: item,
          path: [index, ...path],
        });
      }
      seen.add(key);
    });
  };
}

/** A list of at most 100 without duplicates. `keyOf` is the key that must differ, `path` the field of an item that contains it. */
export function uniqueList<T extends z.ZodType>(
  item: T,
  keyOf: (item: z.output<T>) => string | number | undefined,
  path: readonly PropertyKey[] = [],
) {
  return z.array(item).max(MAX_ITEMS).check(noDuplicates(keyOf, path)).meta({ uniqueItems: true });
}

/** The items of a request: 1 to 100. Each kind of item defines duplicates in a check. */
export function itemsOf<T extends z.ZodType>(item: T) {
  return z.array(item).min(1).max(MAX_ITEMS).meta({ uniqueItems: true });
}

/** Fields of a response that requests may contain: ignored, so that a client can send a response back. */
export function responseOnly<Shape extends { readonly [field: string]: z.ZodType }>(fields: Shape) {
  const ignored = Object.entries(fields).map(([name, schema]) => [
    name,
    z
      .preprocess(() => undefined, schema.optional())
      .optional()
      .meta({ readOnly: true }),
  ]);
  return Object.fromEntries(ignored) as { [Field in keyof Shape]: z.ZodOptional<z.ZodUnknown> };
}

/** The networks of an account in a request: 1 to 100, without duplicates. */
export const networkIdsInput = uniqueList(networkId, (id) => id).min(1);

/** A time in a query. */
export const instant = z.iso
  .datetime({ offset: true, message: 'must be a date and time such as 2025-06-01T12:00:00Z' })
  .meta({ id: 'Instant', description: 'ISO 8601 date and time with an offset.' });

/** What a search of requests takes. */
const searchText = z
  .string()
  .max(200)
  .refine((text) => /[\p{L}\p{N}]/u.test(text), 'must have a letter or a digit')
  .meta({ id: 'SearchText', maxLength: 200, examples: ['salary may'] });

/** The filters of a list of requests, whatever their kind. */
export const requestQuery = {
  text: searchText.optional().meta({
    description:
      'Only those with words that begin with each of these: in the id, the summary, the description or the recipient; or with the ' +
      'recipient, initiator, account or policy of a name that contains it. Upper and lower case are the same.',
  }),
  from: instant.optional().meta({ description: 'Only those created at or after this time.' }),
  to: instant.optional().meta({ description: 'Only those created before this time.' }),
};

/** A network in a query. */
export const networkIdQuery = z.preprocess(
  (text) => (typeof text === 'string' && /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : text),
  networkId,
);

/** What a filter by who has not signed says. */
export const MISSING_MEMBER =
  'Only those that wait for this member: open, with too few signatures, and they can sign and have not. A page may have ' +
  'fewer results than `limit`, and none, while `hasMore` is true.';

const cursor = z
  .string()
  .max(4_096)
  .optional()
  .meta({
    description: '`pagination.cursor` of the previous page. It includes the filters of the first request.',
    param: { id: 'Cursor' },
  });

function limitQuery(name: string, fallback: { description?: string; default?: number }) {
  return z
    .preprocess(
      (text) => (typeof text === 'string' && /^[0-9]{1,3}$/.test(text) ? Number(text) : text),
      z.int('must be a whole number from 1 to 100').min(1).max(100),
    )
    .optional()
    .meta({ ...fallback, param: { id: name } });
}

/** Cursor and page size of a list that is always paged, 20 results per page by default. */
export const pageQuery = {
  cursor,
  limit: limitQuery('PageLimit', { default: 20 }),
};

/** Cursor and page size of the list of transactions, 100 results per page by default. */
export const transactionPageQuery = {
  cursor,
  limit: limitQuery('TransactionPageLimit', { default: 100 }),
};

/** Cursor and page size of a list that is paged only on request. */
export const listQuery = {
  cursor,
  limit: limitQuery('ListLimit', {
    description: 'Results per page. Without `limit` and `cursor` the response is the full list.',
  }),
};

/** Page size of the feed of events, 100 by default. */
export const eventLimit = limitQuery('EventLimit', { default: 100 });

/** What the description of a list says whose pages are limited by size as well. */
export const LARGE_PAGE =
  'A page with much data may have fewer results than `limit`; `hasMore` says whether there is a next page.';

/** The end of a page. */
const pagination = z
  .object({
    cursor: z.string().meta({
      description: 'Cursor of the next page; empty on the last page.',
    }),
    hasMore: z.boolean().meta({ description: 'True if there is a next page.' }),
  })
  .meta({ id: 'Pagination' });

/** A schema with the name of what it contains, so that generated clients name its type. */
function namedAfter<T extends z.ZodType>(item: z.ZodType, suffix: string, schema: T): T {
  const id = item.meta()?.id;
  return id === undefined ? schema : schema.meta({ id: `${id}${suffix}` });
}

/** `{data: [...], pagination}`. */
export function pageOf<T extends z.ZodType>(item: T) {
  return namedAfter(item, 'Page', z.object({ data: z.array(item), pagination }));
}

/** `{data: [...]}`, with `pagination` when the request asked for a page. */
export function listOf<T extends z.ZodType>(item: T) {
  return namedAfter(item, 'List', z.object({ data: z.array(item), pagination: pagination.optional() }));
}

/** `{data: ...}`. */
export function dataResponse<T extends z.ZodType>(data: T) {
  return namedAfter(data, 'Response', z.object({ data }));
}
