/** Digits as an address has them; the letter is a Latin x, or one that looks like it. */
const ADDRESS_DIGITS = /0[xх×][0-9a-f]{4}|[0-9a-f]{40}/u;

/** Whether a name could be taken for an address, or for the ends of one. */
export function looksLikeAddress(name: string): boolean {
  return ADDRESS_DIGITS.test(foldName(name));
}

/**
 * A name as its readers see it: names that differ only in case, in compatibility forms (NFKC), in spaces or in what
 * cannot be seen are folded to the same text.
 */
export function foldName(name: string): string {
  const shown = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  // Through upper case: "ß" and "ẞ" become "ss", and every sigma the same.
  const folded = shown.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
  return folded.replace(/\s+/gu, ' ').trim();
}
