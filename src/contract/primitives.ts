import { z } from 'zod';

/** The largest number of items in a request or in an inner list. */
export const MAX_ITEMS = 100;

const CONTROL = /\p{Cc}|[\u2028\u2029]/u;
const BIDI_CONTROL = /\p{Bidi_Control}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** How many characters a reader counts: Unicode code points, not UTF-16 units. */
function characters(text: string): number {
  return [...text].length;
}

function plainText(minimum: number, maximum: number) {
  return z.string().check((context) => {
    const text = context.value;
    const refuse = (message: string) => context.issues.push({ code: 'custom', message, input: text });
    const count = characters(text);
    if (count < minimum || count > maximum) refuse(`must have ${minimum} to ${maximum} characters`);
    else if (LONE_SURROGATE.test(text)) refuse('must be well-formed Unicode');
    else if (CONTROL.test(text)) refuse('must not have control characters');
    else if (BIDI_CONTROL.test(text)) refuse('must not have characters that change the direction of text');
    else if (minimum > 0 && text.trim() === '') refuse('must not be blank');
  });
}

/** A name that a user gives: 1 to 100 characters on one line. */
export const nameInput = plainText(1, 100).meta({
  description: '1 to 100 characters, no control characters, none that change the direction of text.',
  minLength: 1,
  maxLength: 100,
});

/** A description that a user gives: 0 to 1,000 characters on one line. */
export const descriptionInput = plainText(0, 1_000).meta({
  description: '0 to 1,000 characters.',
  maxLength: 1_000,
});

/** A reason that a signer gives: 0 to 500 characters on one line. */
export const reasonInput = plainText(0, 500).meta({ description: '0 to 500 characters.', maxLength: 500 });

const ID_SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** The kinds of id that a path can name. */
export type PathIdPrefix = 'mem' | 'grp' | 'pol' | 'acc' | 'adm' | 'prop' | 'txn';

/** True when a text has the shape of an id of that kind (TypeID: prefix and 26 characters of base32). */
export function isId(prefix: PathIdPrefix, text: string): boolean {
  return new RegExp(`^${prefix}_${ID_SUFFIX}$`).test(text);
}

/** The id of an existing record in a request body. */
export function idInput(prefix: PathIdPrefix) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_${ID_SUFFIX}$`), `must be an id that begins with ${prefix}_`);
}

/** The EIP-155 chain id of a network. */
export const networkId = z
  .int()
  .positive()
  .meta({ description: 'EIP-155 chain id of the network.', examples: [31337] });

/** A point in time in a response: ISO 8601, UTC, milliseconds. */
export const timestamp = z.iso.datetime().meta({ examples: ['2025-06-01T12:00:00.000Z'] });

/** An address in a response, checksummed (EIP-55). */
export const address = z
  .string()
  .regex(/^0x[a-fA-F0-9]{40}$/)
  .meta({
    description: 'Checksummed (EIP-55).',
    examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
  });

const LOWER_OR_UPPER = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/;

/**
 * An address in a request: all lower case, all upper case, or with a right checksum (EIP-55).
 *
 * `checksum` writes an address with its checksum; it is given by whoever can compute one.
 */
export function addressInput(checksum: (address: string) => string) {
  return (
    z
      .string()
      // Whether a checksum is right is asked about addresses only.
      .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'must be an address: 0x and 40 hex digits', abort: true })
      .refine((text) => LOWER_OR_UPPER.test(text) || checksum(text) === text, 'has a wrong checksum')
  );
}

const AMOUNTS = 2n ** 256n;

/** An amount in the smallest unit: plain decimal digits below 2^256. */
export const amountInput = z
  .string()
  .refine(
    (text) => /^(0|[1-9][0-9]{0,77})$/.test(text) && BigInt(text) < AMOUNTS,
    'must be a whole number below 2^256 in decimal digits, without sign or leading zeros',
  )
  .meta({ description: 'Decimal digits, below 2^256.', examples: ['1500000'] });

/** The hash of a chain transaction. */
export const transactionHash = z.string().regex(/^0x[0-9a-f]{64}$/);

/** Fails on the later of two items that have the same key; `pathOf` tells the field inside the item. */
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
          message: 'is given twice',
          input: item,
          path: [index, ...path],
        });
      }
      seen.add(key);
    });
  };
}

/** The items of a request: 1 to 100. */
export function itemsOf<T extends z.ZodType>(item: T) {
  return z.array(item).min(1).max(MAX_ITEMS);
}

/** Fields that only a response has: taken back and ignored, so that what was read can be sent. */
export function responseOnly<Field extends string>(...fields: readonly Field[]) {
  const ignored = fields.map((field) => [field, z.unknown().optional()] as const);
  return Object.fromEntries(ignored) as Record<Field, z.ZodOptional<z.ZodUnknown>>;
}

/** The networks of an account in a request: 1 to 100, none twice. */
export const networkIdsInput = z
  .array(networkId)
  .min(1)
  .max(MAX_ITEMS)
  .check(noDuplicates((id) => id));

/** A cursor and a page size, as the query of every list has them. */
export const pageQuery = {
  cursor: z
    .string()
    .max(4_096)
    .optional()
    .meta({ description: 'Cursor from a previous response; carries its filters.' }),
  limit: z
    .string()
    .regex(/^[0-9]{1,3}$/, 'must be a whole number from 1 to 100')
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .optional()
    .meta({ description: 'Results per page.' }),
};

/** Where a page ends. */
export const pagination = z
  .object({
    cursor: z.string().meta({ description: 'Send it to get the next page; empty at the end.' }),
    hasMore: z.boolean(),
  })
  .meta({ id: 'Pagination' });

/** `{data: [...], pagination}`. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination });
}

/** `{data: [...]}`, with `pagination` when the caller asked for a page. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination: pagination.optional() });
}

/** `{data: ...}`. */
export function envelope<T extends z.ZodType>(data: T) {
  return z.object({ data });
}
