import { type Hex, isAddress } from 'viem';
import type { TransactionIntent } from './intent.ts';

type Message = { readonly [Field in 'to' | 'value' | 'data' | 'token' | 'amount']?: string };

const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;

/** Of every native currency of an EVM chain. */
export const NATIVE_DECIMALS = 18;

/** True for the address that stands for the native currency in place of a token's. */
export const isNative = (token: string | undefined) => token === NATIVE_CURRENCY;

/** True when a message sends something; false when it calls a contract. */
export function isTransfer({ token, amount, data }: Message): boolean {
  return data === '0x' ? amount !== '0' : !isNative(token);
}

/** Who receives what. Source: docs/signatures.md, "Recipient, token and amount". */
export function spentBy({ to, value, data }: Message) {
  const [, recipient, amount] =
    /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec((data ?? '').toLowerCase()) ?? [];
  return recipient
    ? { recipient: `0x${recipient}`, token: to, amount: String(BigInt(`0x${amount}`)) }
    : { recipient: to, token: NATIVE_CURRENCY, amount: value };
}

/** True for an address, with its checksum where it has one. */
const isWritten = (text: string | number) => /^0x[0-9A-F]{40}$/.test(`${text}`) || isAddress(`${text}`);

/** An address as it was written. Throws TypeError: one with a missing or mistyped digit is somebody else's. */
function addressOf(field: string, text: string): string {
  if (isWritten(text)) return text;
  throw new TypeError(`${field}: invalid address "${text}" (expected 0x and 40 hex digits, checksummed)`);
}

/** The fields whose value has one form, wherever they are, and how it is checked. */
const WORDS: readonly (readonly [
  field: RegExp,
  expected: string,
  fits: (value: string | number) => boolean,
])[] = [
  [/etworkId$/, 'a number', (value) => typeof value === 'number'],
  [/ddress$|^account$/, 'an address: 0x and 40 hex digits, checksummed', isWritten],
  [/(^i|I)d$|^replaces$/, 'an id, such as acc_…', (value) => /^[a-z]+_\w+$/.test(String(value))],
];

/**
 * Throws TypeError for an id where an address is wanted, and the like: compared with a payload, what the caller has
 * mistaken would look like an attack.
 */
export function assertWords(value: unknown, path: string, field = path): void {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const below = Array.isArray(value) ? `${path}[${key}]` : `${path}${path && '.'}${key}`;
      // `memberIds[0]` is a memberId.
      assertWords(inner, below, Array.isArray(value) ? field.replace(/e?s$/, '') : key);
    }
  }
  if (typeof value !== 'string' && typeof value !== 'number') return;
  const [, expected, fits] = WORDS.find(([pattern]) => pattern.test(field)) ?? [];
  if (fits?.(value) === false)
    throw new TypeError(`${path}: invalid value "${value}" (expected ${expected})`);
}

/** An amount in digits. Throws TypeError; also for a number, which may have been rounded. */
function digitsOf(field: string, amount: bigint | string): string {
  const text = String(amount);
  if (typeof amount !== 'number' && /^(0|[1-9]\d*)$/.test(text) && BigInt(text) < 2n ** 256n) return text;
  throw new TypeError(`${field}: invalid amount "${text}" (expected a bigint, or digits, below 2^256)`);
}

/** The call that an intent asks for. Throws TypeError for an address, id or amount that is none. */
export function callOf(intent: TransactionIntent): { to: string; value: string; data: Hex } {
  const { account, networkId, policyId, replaces } = intent;
  assertWords({ account, networkId, policyId, replaces }, '');
  const to = addressOf('to', intent.to);
  if (intent.type === 'call') return { to, value: digitsOf('value', intent.value ?? 0n), data: intent.data };
  const amount = digitsOf('amount', intent.amount);
  const token = intent.token === undefined ? NATIVE_CURRENCY : addressOf('token', intent.token);
  if (isNative(token)) return { to, value: amount, data: '0x' };
  const words = [BigInt(to), BigInt(amount)].map((word) => word.toString(16).padStart(64, '0'));
  return { to: token, value: '0', data: `0xa9059cbb${words.join('')}` };
}
