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

/** What was typed as an amount: its smallest units, or what is wrong with it. */
export type TypedAmount = { readonly raw: string } | { readonly error: string };

/**
 * Reads an amount that somebody typed in whole units; in the smallest unit where there are no decimals. Commas between groups of
 * three digits are accepted.
 */
export function readAmount(text: string, reported: number | null): TypedAmount {
  const decimals = reported ?? 0;
  const typed = text.trim();
  const [, whole = '', fraction = ''] = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/.exec(typed) ?? [];
  if (whole === '') return { error: 'Invalid amount (expected digits, such as 1250 or 0.05)' };
  const places = fraction.replace(/0+$/, '');
  if (places.length > decimals) {
    return { error: `Too many decimals (at most ${decimals})` };
  }
  return { raw: String(BigInt(whole.replaceAll(',', '') + places.padEnd(decimals, '0'))) };
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
