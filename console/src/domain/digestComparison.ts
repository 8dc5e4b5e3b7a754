/** How a digest that others have compares with the one of this page. */
export type DigestComparison =
  | { readonly is: 'absent' | 'same' }
  /** So far the same: there are more digits. */
  | { readonly is: 'partial'; readonly digits: number }
  /** The first group of eight digits that differs, from 1. */
  | { readonly is: 'different'; readonly group: number };

const DIGITS = 64;
const GROUP = 8;

/** Compares a digest (bytes32 as 0x hex) with one that was typed: with or without 0x and blanks, in any case. */
export function compareDigest(digest: string, typed: string): DigestComparison {
  const own = digest.slice(2).toLowerCase();
  const digits = typed.replace(/\s/g, '').replace(/^0x/i, '').toLowerCase();
  if (digits === '') return { is: 'absent' };
  if (digits === own) return { is: 'same' };
  if (own.startsWith(digits)) return { is: 'partial', digits: digits.length };
  const at = [...digits].findIndex((digit, i) => digit !== own[i]);
  return { is: 'different', group: Math.floor(Math.min(at, DIGITS - 1) / GROUP) + 1 };
}
