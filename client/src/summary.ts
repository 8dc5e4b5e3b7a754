import { PayloadMismatch } from './errors.ts';
import type { TransactionIntent } from './intent.ts';
import type { TypedData } from './payload.ts';
import { isNative, isTransfer, NATIVE_DECIMALS } from './transactionCall.ts';

/** A text that somebody chose: JSON on one line. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';

/** A number as the service writes it, without zeros that say nothing. */
const NUMBER = '(?:0|[1-9]\\d*)(?:\\.\\d*[1-9])?';

/** True when `shown`, in whole units of so many decimals, is `raw` in the smallest. */
function isAmount(shown: string, raw: string, decimals: number): boolean {
  const [whole = '', fraction = ''] = shown.split('.');
  const zeros = decimals - fraction.length;
  return zeros >= 0 && BigInt(raw) === BigInt(`${whole}${fraction}${'0'.repeat(zeros)}`);
}

type Message = TypedData['message'];

/** The words of a call: last its target, whatever the parameters before it say. */
function isCallText(what: string, { to, value = '' }: Message): boolean {
  const calldata = '(?: with(?:out| \\d+ bytes? of) calldata)?';
  const sent = `(?:, together with (${NUMBER}) ${QUOTED})?`;
  const found = new RegExp(`^Call (?:.* of )?${to}${calldata}${sent}$`, 'i').exec(what);
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

function replacedIn(intent: TransactionIntent | undefined): string {
  if (!intent) return '(?:, in place of the failed txn_\\w+)?';
  return intent.replaces ? `, in place of the failed ${intent.replaces}` : '';
}

/**
 * Compares the one line of a transaction with its bytes: the addresses, the network and the amount in it. `decimals` are
 * the token's: where nobody knows them, only the amount in its smallest unit is right. Throws PayloadMismatch.
 */
export function checkSummary(
  { domain: { verifyingContract, chainId }, message }: Pick<TypedData, 'domain' | 'message'>,
  intent: TransactionIntent | undefined,
  decimals: number | undefined,
): void {
  const { summary = '', recipient, token, amount, to } = message;
  const place = `from the account ${QUOTED} \\(${verifyingContract}\\) on ${QUOTED} \\(${chainId}\\)`;
  const [, what] = new RegExp(`^(.*) ${place}${replacedIn(intent)}$`, 'i').exec(summary) ?? [];
  const sends = isTransfer(message);
  const says = sends ? `Send ${amount} (smallest unit of ${token}) to ${recipient}` : `Call … of ${to}`;
  const isRight = sends
    ? isTransferText(what ?? '', message, isNative(token) ? NATIVE_DECIMALS : decimals)
    : isCallText(what ?? '', message);
  if (isRight) return;
  const asked = `${says} from the account … (${verifyingContract}) on … (${chainId})`;
  throw new PayloadMismatch('message.summary', asked, summary);
}
