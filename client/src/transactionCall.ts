import type { Hex } from 'viem';
import type { TransactionIntent } from './intent.ts';

type Message = { readonly [field: string]: string };

const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;

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

/** The call that an intent asks for. */
export function callOf(intent: TransactionIntent): { to: string; value: string; data: Hex } {
  if (intent.type === 'call') return { to: intent.to, value: String(intent.value ?? 0), data: intent.data };
  const { token, to, amount } = intent;
  if (token === undefined || isNative(token)) return { to, value: String(amount), data: '0x' };
  const words = [BigInt(to), BigInt(amount)].map((word) => word.toString(16).padStart(64, '0'));
  return { to: token, value: '0', data: `0xa9059cbb${words.join('')}` };
}
