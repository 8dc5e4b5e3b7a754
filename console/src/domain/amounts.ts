import { symbolText } from './quotedName.ts';

/** What separates whole units from their decimals where the browser is: a comma, or a point as everywhere else. */
type DecimalSign = '.' | ',';

/** The decimal sign of a locale; of the browser's without one. */
export function decimalSign(locale?: string): DecimalSign {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.';
}

/** Between groups of three digits: a narrow space. A comma is a decimal sign to half of those who read it. Source: ISO 80000-1, 7.3. */
const GROUP = '\u202f';

/** A whole number of smallest units, in whole units with its decimals, for programs: `1234500000`, 6 → `1234.5`. */
export function decimalText(raw: string | bigint, reported: number | null): string {
  const decimals = reported ?? 0;
  const digits = String(raw).padStart(decimals + 1, '0');
  if (decimals === 0) return digits;
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The same for people, with the decimal sign of the browser's locale: `1 234.5`, or `1 234,5`. `readAmount` reads the same. */
export function amountText(raw: string | bigint, reported: number | null, sign = decimalSign()): string {
  const [whole = '', fraction] = decimalText(raw, reported).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, GROUP);
  return fraction === undefined ? grouped : unambiguous(`${grouped}${sign}${fraction}`, sign);
}

/** How many digits a short amount has from its first one that is not 0. */
const SIGNIFICANT = 6;
/** How many decimals a short amount keeps, however large it is. */
const KEPT_DECIMALS = 2;

/**
 * The same for a sentence: rounded to six significant digits, but never before the second decimal: what is left of a million is
 * not a million. `1234567891234567891`, 18 → `1.23457`. Half is rounded up.
 */
export function shortAmountText(raw: string | bigint, reported: number | null, sign = decimalSign()): string {
  const decimals = reported ?? 0;
  const amount = BigInt(raw);
  const dropped = Math.max(0, Math.min(decimals - KEPT_DECIMALS, String(amount).length - SIGNIFICANT));
  const unit = 10n ** BigInt(dropped);
  return amountText(((amount + unit / 2n) / unit) * unit, decimals, sign);
}

/** What was typed as an amount: its smallest units, or what is wrong with it. */
export type TypedAmount = { readonly raw: string } | { readonly error: string };

/** Whole units in groups of three digits or not, and decimals. */
const WITH_POINT = /^(\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d+))?$/;
const WITH_COMMA = /^(\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d+))?$/;
/** A thousand times as much to some as to others: a comma wherever it is typed, a point where the decimal sign is a comma. */
const AMBIGUOUS = /^0*([1-9]\d{0,2})([.,])(\d{3})$/;
/** Groups of three digits apart by spaces, as many locales write them. */
const SPACED = /^[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?$/;

/** Whole units and decimals of what was typed, as it is read with that decimal sign; undefined where it is not a number. */
function partsOf(typed: string, sign: DecimalSign): RegExpExecArray | undefined {
  const text = SPACED.test(typed) ? typed.replace(/[ \u00a0\u202f]/g, '') : typed;
  const own = sign === ',' ? WITH_COMMA.exec(text) : null;
  return own ?? WITH_POINT.exec(text) ?? undefined;
}

/** What is wrong with an amount that some read as a thousand times what others read; undefined: nothing. */
function ambiguity(typed: string, sign: DecimalSign): string | undefined {
  const [, units, separator, thousandths] = AMBIGUOUS.exec(typed) ?? [];
  if (units === undefined || (separator === '.' && sign === '.')) return undefined;
  return `Ambiguous amount (write ${units}${thousandths}, or ${units}${sign}${thousandths}0)`;
}

/** An amount with decimals, so that nobody reads them as thousands. */
const unambiguous = (text: string, sign: DecimalSign) =>
  ambiguity(text, sign) === undefined ? text : `${text}0`;

/**
 * Reads an amount that somebody typed in whole units; in the smallest unit where there are no decimals. A point is a decimal sign
 * everywhere, a comma where it is the one of the locale; the other one may stand between groups of three digits, and so may
 * spaces. `1,250` is refused everywhere, because a browser may speak another language than whoever types; `1.250` where the
 * decimal sign is a comma.
 */
export function readAmount(text: string, reported: number | null, sign = decimalSign()): TypedAmount {
  const decimals = reported ?? 0;
  const typed = text.trim();
  const ambiguous = ambiguity(typed, sign);
  if (ambiguous !== undefined) return { error: ambiguous };
  const [, whole = '', fraction = ''] = partsOf(typed, sign) ?? [];
  if (whole === '') return { error: `Invalid amount (expected digits, such as 1250 or 0${sign}05)` };
  const places = fraction.replace(/0+$/, '');
  if (places.length > decimals) {
    return { error: `Too many decimals (at most ${decimals})` };
  }
  return { raw: String(BigInt(whole.replace(/[.,]/g, '') + places.padEnd(decimals, '0'))) };
}

/** An amount as somebody would type it, to the last digit: `readAmount` reads the same. */
export function typedText(raw: string | bigint, reported: number | null, sign = decimalSign()): string {
  const [whole = '', fraction] = decimalText(raw, reported).split('.');
  return fraction === undefined ? whole : unambiguous(`${whole}${sign}${fraction}`, sign);
}

/** What an amount is of. */
export interface AmountAsset {
  readonly symbol: string;
  readonly decimals: number | null;
  readonly tokenAddress?: string;
}

/** The amount with what it is of; raw units where its decimals are not known. `write`: to the last digit, or shortened. */
export function assetText(
  raw: string | bigint,
  asset: AmountAsset | undefined,
  write: (raw: string | bigint, reported: number | null) => string = amountText,
): string {
  if (!asset) return `${raw} raw units`;
  const name = symbolText(asset.symbol) || `token ${asset.tokenAddress ?? ''}`;
  const unit = asset.decimals === null ? `raw units of ${name}` : name;
  return `${write(raw, asset.decimals)} ${unit}`;
}
