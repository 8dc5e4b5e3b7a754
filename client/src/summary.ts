import { visible } from './describe.ts';
import { PayloadMismatch } from './errors.ts';
import { match } from './expectation.ts';
import type { TransactionIntent } from './intent.ts';
import type { Message, TypedData } from './payload.ts';
import { isNative, isTransfer, NATIVE_DECIMALS } from './transactionCall.ts';

/** A text that somebody chose: JSON on one line; of a long one the beginning, with a mark after it. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"…?';

/** A number as the service writes it, without zeros that say nothing. */
const NUMBER = '(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?';

/** True when `shown`, in whole units of so many decimals, is `raw` in the smallest. */
function isAmount(shown: string, raw: string, decimals: number): boolean {
  const [whole = '', fraction = ''] = shown.split('.');
  const zeros = decimals - fraction.length;
  return zeros >= 0 && BigInt(raw) === BigInt(`${whole}${fraction}${'0'.repeat(zeros)}`);
}

/** The words of a call. */
function isCallText(what: string, { to, value = '' }: Message): boolean {
  const calldata = ' with(?:out| \\d+ bytes? of) calldata';
  const parameters = ' with(?:out| \\d+) parameters?';
  const sent = `(?:, together with (${NUMBER}) ${QUOTED})?`;
  const found = new RegExp(`^Call (?:.* of )?${to}(?:${calldata}|${parameters})${sent}$`, 'i').exec(what);
  return found !== null && isAmount(found[1] ?? '0', value, NATIVE_DECIMALS);
}

function isTransferText(what: string, message: Message, decimals: number | undefined): boolean {
  const { recipient, token = '', amount = '' } = message;
  const where = isNative(token) ? 'native currency' : token;
  const named = new RegExp(
    `^Send (${NUMBER}) ${QUOTED} \\((?:${QUOTED}, )?${where}\\) to ${recipient}$`,
    'i',
  );
  const [, shown] = named.exec(what) ?? [];
  if (shown !== undefined) return decimals !== undefined && isAmount(shown, amount, decimals);
  return new RegExp(`^Send ${amount} raw units of the token ${token} to ${recipient}$`, 'i').test(what);
}

/** The transaction that one replaces, as its summary says it; undefined for none. */
export function replacedIn({ summary }: Pick<Message, 'summary'>): string | undefined {
  return /^In place of the failed (txn_\w+)$/.exec(summary[2] ?? '')?.[1];
}

/** Longest name in a summary, in bytes of UTF-8. */
const MAX_NAME_BYTES = 48;

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** A name as a summary has it: in quotes, without what cannot be seen; of a long one the beginning, with a mark after it. */
export function nameInSummary(name: string): string {
  const written = (text: string) => visible(JSON.stringify(text));
  let [shown, bytes] = ['', 0];
  for (const character of name) {
    bytes += bytesOf(written(character)) - 2;
    if (bytes > MAX_NAME_BYTES) return `${written(shown)}…`;
    shown += character;
  }
  return written(shown);
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
  const { summary, recipient, token, amount, to } = message;
  const [what = '', from = ''] = summary;
  const place = `From the account ${QUOTED} \\(${verifyingContract}\\) on ${QUOTED} \\(${chainId}\\)`;
  const sends = isTransfer(message);
  const says = sends ? `Send ${amount} (smallest unit of ${token}) to ${recipient}` : `Call … of ${to}`;
  const isRight = sends
    ? isTransferText(what, message, isNative(token) ? NATIVE_DECIMALS : decimals)
    : isCallText(what, message);
  const replaced = replacedIn(message);
  if (intent) match('message.summary', intent.replaces, replaced);
  // After these lines a call has its parameters.
  if (sends && summary.length > (replaced === undefined ? 2 : 3)) {
    throw new PayloadMismatch('message.summary', 'no further line', summary.join('\n'));
  }
  if (isRight && new RegExp(`^${place}$`, 'i').test(from)) return;
  const asked = `${says}, from the account … (${verifyingContract}) on … (${chainId})`;
  throw new PayloadMismatch('message.summary', asked, summary.join('\n'));
}
