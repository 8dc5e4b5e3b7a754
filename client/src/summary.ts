import { PayloadMismatch } from './errors.ts';
import type { TransactionIntent } from './intent.ts';
import type { TypedData } from './payload.ts';
import { isNative, isTransfer } from './transactionCall.ts';

/** A text that somebody chose: JSON on one line. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';

/** True when `shown`, in whole units of so many decimals, is `raw` in the smallest; of unknown decimals, of any. */
function isAmount(shown: string, raw: string, decimals: number | undefined): boolean {
  const [whole = '', fraction = ''] = shown.split('.');
  const zeros = decimals === undefined ? undefined : decimals - fraction.length;
  const digits = `${whole}${fraction}`.replace(/^0+(?=.)/, '');
  if (zeros !== undefined)
    return zeros >= 0 && (digits === '0' ? raw === '0' : raw === `${digits}${'0'.repeat(zeros)}`);
  return raw.startsWith(digits) && /^0*$/.test(raw.slice(digits.length));
}

type Message = TypedData['message'];

/** The words of a call: last its target, whatever the parameters before it say. */
function isCallText(what: string, { to }: Message): boolean {
  const calldata = '(?: with(?:out| \\d+ bytes? of) calldata)?';
  return new RegExp(`^Call (?:.* of )?${to}${calldata}(?:, together with .*)?$`, 'i').test(what);
}

function isTransferText(what: string, message: Message, decimals: number | undefined): boolean {
  const { recipient, token = '', amount = '' } = message;
  const where = isNative(token) ? 'native currency' : token;
  const named = new RegExp(`^Send ([\\d.]+) ${QUOTED} \\((?:${QUOTED}, )?${where}\\) to ${recipient}$`, 'i');
  const [, shown] = named.exec(what) ?? [];
  if (shown !== undefined) return isAmount(shown, amount, decimals);
  return new RegExp(`^Send ${amount} raw units of the token ${token} to ${recipient}$`, 'i').test(what);
}

/** The decimals of what is sent, where the caller knows them. */
function decimalsOf(intent: TransactionIntent | undefined, token: string | undefined): number | undefined {
  if (intent?.type !== 'transfer') return undefined;
  return intent.decimals ?? (isNative(token) ? 18 : undefined);
}

function replacedIn(intent: TransactionIntent | undefined): string {
  if (!intent) return '(?:, in place of the failed txn_\\w+)?';
  return intent.replaces ? `, in place of the failed ${intent.replaces}` : '';
}

/**
 * Compares the one line of a transaction with its bytes: the addresses, the network and the amount in it. Throws
 * PayloadMismatch.
 */
export function checkSummary(
  { domain: { verifyingContract, chainId }, message }: Pick<TypedData, 'domain' | 'message'>,
  intent: TransactionIntent | undefined,
): void {
  const { summary = '', recipient, token, amount, to } = message;
  const place = `from the account ${QUOTED} \\(${verifyingContract}\\) on ${QUOTED} \\(${chainId}\\)`;
  const [, what] = new RegExp(`^(.*) ${place}${replacedIn(intent)}$`, 'i').exec(summary) ?? [];
  const sends = isTransfer(message);
  const says = sends ? `Send ${amount} (smallest unit of ${token}) to ${recipient}` : `Call … of ${to}`;
  const isRight = sends
    ? isTransferText(what ?? '', message, decimalsOf(intent, token))
    : isCallText(what ?? '', message);
  if (isRight) return;
  const asked = `${says} from the account … (${verifyingContract}) on … (${chainId})`;
  throw new PayloadMismatch('message.summary', asked, summary);
}
