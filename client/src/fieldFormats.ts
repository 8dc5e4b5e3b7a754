import { isAddress } from 'viem';

/** True for an address, with its checksum where it has one. */
const isValidAddress = (text: string | number) => /^0x[0-9A-F]{40}$/.test(`${text}`) || isAddress(`${text}`);

/** An address as it was written. Throws TypeError: one with a missing or mistyped digit is somebody else's. */
export function addressOf(field: string, text: string): string {
  if (isValidAddress(text)) return text;
  throw new TypeError(`${field}: invalid address "${text}" (expected 0x and 40 hex digits, checksummed)`);
}

/** An amount in digits. Throws TypeError; also for a number, which may have been rounded. */
export function digitsOf(field: string, amount: bigint | string): string {
  const text = String(amount);
  if (typeof amount !== 'number' && /^(0|[1-9]\d*)$/.test(text) && BigInt(text) < 2n ** 256n) return text;
  throw new TypeError(`${field}: invalid amount "${text}" (expected a bigint, or digits, below 2^256)`);
}

/** The format of the fields that have these names, in whatever record they are. */
const FORMATS: readonly (readonly [
  field: RegExp,
  expected: string,
  fits: (value: string | number) => boolean,
])[] = [
  [/^networkId$/, 'a number', (value) => typeof value === 'number'],
  [/address$|^account$/i, 'an address: 0x and 40 hex digits, checksummed', isValidAddress],
  [/^id$|Id$|^replaces$/, 'an id, such as acc_…', (value) => /^[a-z]+_\w+$/.test(`${value}`)],
];

/**
 * Checks the ids, addresses and network ids of an intent. Throws TypeError for an id in place of an address, and the like:
 * compared with a payload, the caller's mistake would look like an attack.
 */
export function assertFormats(value: unknown, path: string, field = path): void {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const below = Array.isArray(value) ? `${path}[${key}]` : `${path}${path && '.'}${key}`;
      // `memberIds[0]` is a memberId.
      assertFormats(inner, below, Array.isArray(value) ? field.replace(/e?s$/, '') : key);
    }
  }
  if (typeof value !== 'string' && typeof value !== 'number') return;
  const [, expected, fits] = FORMATS.find(([pattern]) => pattern.test(field)) ?? [];
  if (fits?.(value) === false)
    throw new TypeError(`${path}: invalid value "${value}" (expected ${expected})`);
}
