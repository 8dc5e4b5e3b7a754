import type { Hex } from 'viem';
import { addressOf, assertFormats, digitsOf } from './fieldFormats.ts';
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
  // The address of the native currency is not a token, whatever it is sent.
  return recipient && !isNative(to)
    ? { recipient: `0x${recipient}`, token: to, amount: String(BigInt(`0x${amount}`)) }
    : { recipient: to, token: NATIVE_CURRENCY, amount: value };
}

/** The call that an intent asks for. Throws TypeError for an address, id or amount that is none. */
export function callOf(intent: TransactionIntent): { to: string; value: string; data: Hex } {
  const { account, networkId, policyId, replaces } = intent;
  assertFormats({ account, networkId, policyId, replaces }, '');
  const to = addressOf('to', intent.to);
  if (intent.type === 'call') return { to, value: digitsOf('value', intent.value ?? 0n), data: intent.data };
  const amount = digitsOf('amount', intent.amount);
  const token = intent.token === undefined ? NATIVE_CURRENCY : addressOf('token', intent.token);
  if (isNative(token)) return { to, value: amount, data: '0x' };
  const words = [BigInt(to), BigInt(amount)].map((word) => word.toString(16).padStart(64, '0'));
  return { to: token, value: '0', data: `0xa9059cbb${words.join('')}` };
}
