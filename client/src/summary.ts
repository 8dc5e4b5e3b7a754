import { shown } from './describe.ts';
import { PayloadMismatch } from './errors.ts';
import { isSameAddress, match, textMatcher } from './expectation.ts';
import type { TransactionIntent } from './intent.ts';
import { FUNCTION_NAME } from './operationShape.ts';
import type { Message, TypedData } from './payload.ts';
import { isNative, isTransfer, NATIVE_DECIMALS } from './transactionCall.ts';

/** A text that somebody chose: JSON on one line; of a long one the beginning, with a mark after it. */
export const QUOTED = '"(?:[^"\\\\]|\\\\.)*"…?';

/** A number as the service writes it, without zeros that say nothing. */
const NUMBER = '(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?';

/** True when `shown`, in whole units of so many decimals, is `raw` in the smallest; never where nobody knows the decimals. */
function isAmount(shown: string, raw: string, decimals = -1): boolean {
  const [whole = '', fraction = ''] = shown.split('.');
  const zeros = decimals - fraction.length;
  return zeros >= 0 && BigInt(raw) === BigInt(`${whole}${fraction}${'0'.repeat(zeros)}`);
}

/** The words of a call: its function, which is not a sentence, its target, how many parameters or bytes it has, and what it sends. */
function isCallText(what: string, { to, value = '', data = '' }: Message): boolean {
  const called = `(?:${FUNCTION_NAME}…?|the unknown function ${data.slice(0, 10)})`;
  const words = new RegExp(
    `^Call (?:${called} of )?${to} with[\\w ]+(?:, together with (${NUMBER}) ${QUOTED})?$`,
    'i',
  );
  const [all, sent = '0'] = words.exec(what) ?? [];
  return all !== undefined && isAmount(sent, value, NATIVE_DECIMALS);
}

function isTransferText(what: string, message: Message, decimals: number | undefined): boolean {
  const { recipient, token = '', amount = '' } = message;
  const where = isNative(token) ? 'native currency' : token;
  const named = new RegExp(
    `^Send (${NUMBER}) ${QUOTED} \\((?:${QUOTED}, )?${where}\\) to ${recipient}$`,
    'i',
  );
  const [, said] = named.exec(what) ?? [];
  if (said !== undefined) return isAmount(said, amount, isNative(token) ? NATIVE_DECIMALS : decimals);
  return new RegExp(`^Send ${amount} raw units of the token ${token} to ${recipient}$`, 'i').test(what);
}

/** The transaction that one replaces, as its summary says it; undefined for none. */
export function replacedIn({ summary }: Pick<Message, 'summary'>): string | undefined {
  return /^In place of the failed (txn_\w+)$/.exec(summary[2] ?? '')?.[1];
}

/** Longest name and longest symbol in a summary with their quotes, in bytes of UTF-8. */
const MAX_NAME_BYTES = 50;
const MAX_SYMBOL_BYTES = 26;

/** A name as a summary has it: in quotes, without what cannot be seen; of a long one the beginning, with a mark after it. */
export function nameInSummary(name: string, maximum = MAX_NAME_BYTES): string {
  let part = name;
  while (new TextEncoder().encode(shown(part)).length > maximum) part = part.replace(/.$/su, '');
  return shown(part) + (part === name ? '' : '…');
}

/** Whether a text has a name or an address as a summary says it. */
export function isIn(summary: string, name: string): boolean {
  return isSameAddress(name, name)
    ? summary.toLowerCase().includes(name.toLowerCase())
    : summary.includes(nameInSummary(name));
}

/** The line of a summary about the admins' Safe, where it is kept. */
export function adminsSafeLine(threshold: number) {
  const can = `${threshold} of these admins can take each account over, without this service`;
  return textMatcher(
    `the admins' Safe, and that ${can}`,
    new RegExp(`^Admins' Safe 0x[0-9a-fA-F]{40}, a module of each account: ${can}$`),
  );
}

/** A symbol as a summary has it. */
export const symbolInSummary = (symbol: string) => nameInSummary(symbol, MAX_SYMBOL_BYTES);

/** The symbol of what a transfer sends, as its summary has it; undefined where that has raw units. */
export function sentSymbolIn({ summary }: Pick<Message, 'summary'>): string | undefined {
  return new RegExp(`^Send ${NUMBER} (${QUOTED}) `).exec(summary[0] ?? '')?.[1];
}

/**
 * Compares the lines of a transaction with its bytes: the addresses, the network and the amount in it. `decimals` are
 * the token's: where nobody knows them, only the amount in its smallest unit is right. Throws PayloadMismatch.
 */
export function checkSummary(
  { domain: { verifyingContract, chainId }, message }: Pick<TypedData, 'domain' | 'message'>,
  intent: TransactionIntent | undefined,
  decimals: number | undefined,
): void {
  const { summary, recipient, token, amount } = message;
  const [what = '', from = ''] = summary;
  const place = `^From the account ${QUOTED} \\(${verifyingContract}\\) on ${QUOTED} \\(${chainId}\\)$`;
  const sends = isTransfer(message);
  const replaced = replacedIn(message);
  if (intent) match('message.summary', intent.replaces, replaced);
  // After these lines a call has its parameters; a transfer has no other.
  const isRight = sends
    ? isTransferText(what, message, decimals) && summary.length === (replaced ? 3 : 2)
    : isCallText(what, message);
  if (isRight && new RegExp(place, 'i').test(from)) return;
  throw new PayloadMismatch('message.summary', `${amount} of ${token} to ${recipient}`, summary);
}
