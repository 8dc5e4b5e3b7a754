import { quoted } from './quoted';

/** Longest part of a text that is repeated, in characters. */
const MAX_LENGTH = 200;

/** The part in which one text differs from another, in whole words. */
function partOf(text: string, other: string): string {
  const [words, others] = [text.split(/[ \n]/), other.split(/[ \n]/)];
  const sameUntil = (of: readonly string[], to: readonly string[]) => {
    const at = of.findIndex((word, i) => word !== to[i]);
    return at < 0 ? of.length : at;
  };
  const first = sameUntil(words, others);
  const last = sameUntil(words.slice(first).reverse(), others.slice(first).reverse());
  const part = words.slice(first, words.length - last).join(' ');
  return quoted(part.length > MAX_LENGTH ? `${part.slice(0, MAX_LENGTH)}…` : part);
}

/** Where a text differs from the one that is expected: `it says "Send 1" instead of "Send 2"`. */
export function textDifference(text: string, expected: string): string {
  return `it says ${partOf(text, expected)} instead of ${partOf(expected, text)}`;
}
