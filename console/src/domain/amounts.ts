/** A whole number of smallest units, in whole units with its decimals: `1234500000`, 6 → `1,234.5`. As it is without decimals. */
export function amountText(raw: string | bigint, reported: number | null): string {
  const decimals = reported ?? 0;
  const digits = String(raw).padStart(decimals + 1, '0');
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === '' ? grouped : `${grouped}.${fraction}`;
}

/** How many digits a short amount has from its first one that is not 0. */
const SIGNIFICANT = 6;

/**
 * The same for a sentence: rounded to six significant digits, but never before the point. `1234567891234567891`, 18 →
 * `1.23457`. Half is rounded up.
 */
export function shortAmountText(raw: string | bigint, reported: number | null): string {
  const decimals = reported ?? 0;
  const amount = BigInt(raw);
  const dropped = Math.min(decimals, Math.max(0, String(amount).length - SIGNIFICANT));
  const unit = 10n ** BigInt(dropped);
  return amountText(((amount + unit / 2n) / unit) * unit, decimals);
}

/** What separates whole units from their decimals where the browser is: a comma, or a point as everywhere else. */
type DecimalSign = '.' | ',';

/** The decimal sign of a locale; of the browser's without one. */
export function decimalSign(locale?: string): DecimalSign {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.';
}

/** What was typed as an amount: its smallest units, or what is wrong with it. */
export type TypedAmount = { readonly raw: string } | { readonly error: string };

/** Whole units in groups of three digits or not, and decimals. */
const WITH_POINT = /^(\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d+))?$/;
const WITH_COMMA = /^(\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d+))?$/;
/** Where a comma is the decimal sign, a thousand times as much to some as to others. */
const AMBIGUOUS = /^([1-9]\d{0,2})[.,](\d{3})$/;
/** Groups of three digits apart by spaces, as many locales write them. */
const SPACED = /^[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?$/;

/** Whole units and decimals of what was typed, as it is read with that decimal sign; undefined where it is no number. */
function partsOf(typed: string, sign: DecimalSign): RegExpExecArray | undefined {
  const text = SPACED.test(typed) ? typed.replace(/[ \u00a0\u202f]/g, '') : typed;
  const own = sign === ',' ? WITH_COMMA.exec(text) : null;
  return own ?? WITH_POINT.exec(text) ?? undefined;
}

/**
 * Reads an amount that somebody typed in whole units; in the smallest unit where there are no decimals. A point is a decimal sign
 * everywhere, a comma where it is the one of the locale; the other one may stand between groups of three digits, and so may
 * spaces. Where the comma is the decimal sign, `1.250` and `1,250` are refused: neither is read in two ways.
 */
export function readAmount(text: string, reported: number | null, sign = decimalSign()): TypedAmount {
  const decimals = reported ?? 0;
  const typed = text.trim();
  const [, units = '', thousandths = ''] = (sign === ',' && AMBIGUOUS.exec(typed)) || [];
  if (units !== '') {
    return { error: `Ambiguous amount (write ${units}${thousandths}, or ${units},${thousandths}0)` };
  }
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
  const [whole = '', fraction = ''] = amountText(raw, reported).replaceAll(',', '').split('.');
  if (fraction === '') return whole;
  const typed = `${whole}${sign}${fraction}`;
  return sign === ',' && AMBIGUOUS.test(typed) ? `${typed}0` : typed;
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
  write: typeof amountText = amountText,
): string {
  if (!asset) return `${raw} raw units`;
  const name = asset.symbol || `token ${asset.tokenAddress ?? ''}`;
  const unit = asset.decimals === null ? `raw units of ${name}` : name;
  return `${write(raw, asset.decimals)} ${unit}`;
}
