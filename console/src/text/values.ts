import { amountText, decimalSign } from '../domain/amounts.ts';

/** A value for people, in hundredths of its currency: half is rounded up. `1234.505`, `USD` → `1 234.51 USD`. Below one hundredth it says so. */
export function valueText(amount: string, currency: string, sign = decimalSign()): string {
  const [whole = '', fraction = ''] = amount.split('.');
  const exact = BigInt(whole + fraction.padEnd(3, '0').slice(0, 3));
  const isSmall = exact < 10n && /[1-9]/.test(amount);
  const cents = isSmall ? 1n : (exact + 5n) / 10n;
  const digits = String(cents).padStart(3, '0');
  const text = `${amountText(digits.slice(0, -2), 0)}${sign}${digits.slice(-2)} ${currency}`;
  return isSmall ? `less than ${text}` : text;
}
