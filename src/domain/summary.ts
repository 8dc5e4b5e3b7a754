import { quoted } from './quoted';

/**
 * Longest line of a summary, in bytes of UTF-8. Each line is a field of its own on a hardware wallet: a Ledger Nano shows 255
 * bytes of a field, of a longer one the first 252.
 */
export const MAX_LINE_BYTES = 252;

/** Longest summary, in bytes of UTF-8: what it has no room for is counted. */
export const MAX_SUMMARY_BYTES = 2_000;

/** Longest name in a line, and longest symbol of a token, in bytes of UTF-8. */
const MAX_NAME_BYTES = 48;
const MAX_SYMBOL_BYTES = 24;

/** What a line with a list leaves free, for the words that stand before it when nothing else is in the summary. */
const VERB_BYTES = 20;

/** What follows a text of which only the beginning is shown. It is outside of the quotes: no name can imitate it. */
const CUT = '…';

/** The length of a text in UTF-8 bytes. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** The longest beginning of a text, in whole code points, that has at most so many bytes as `written` writes it. */
export function beginningOf(text: string, maximum: number, written: (part: string) => string): string {
  let [bytes, end] = [0, 0];
  for (const character of text) {
    bytes += bytesOf(written(character));
    if (bytes > maximum) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** A text that somebody chose, in quotes and without what cannot be seen; of a long one the beginning, with a mark. */
export function quotedBeginning(text: string, maximum: number): string {
  const shown = beginningOf(text, maximum, (part) => quoted(part).slice(1, -1));
  return `${quoted(shown)}${shown === text ? '' : CUT}`;
}

/** A name in a line. */
export function quotedName(name: string): string {
  return quotedBeginning(name, MAX_NAME_BYTES);
}

/** A name that something new gets: with its id where the name is cut, so that two of them can be distinguished. */
export function quotedNewName({ id, name }: { readonly id: string; readonly name: string }): string {
  const shown = quotedName(name);
  return shown.endsWith(CUT) ? `${shown} (${id})` : shown;
}

/** The symbol of a token in a line. */
export function quotedSymbol(symbol: string): string {
  return quotedBeginning(symbol, MAX_SYMBOL_BYTES);
}

/** A text that can be read in one way only, such as the declaration of a function; of a long one the beginning. */
export function plainBeginning(text: string, maximum: number): string {
  const shown = beginningOf(text, maximum, (part) => part);
  return shown === text ? text : `${shown}${CUT}`;
}

/** As many items as fit into so many bytes, each whole, and the number of the others, which are not made into texts. */
export function fitting<T>(
  items: readonly T[],
  maximum: number,
  textOf: (item: T) => string = String,
): string {
  const texts: string[] = [];
  let bytes = 0;
  for (const item of items) {
    if (bytes > maximum) break;
    const text = textOf(item);
    bytes += bytesOf(text) + (texts.length === 0 ? 0 : 2);
    texts.push(text);
  }
  if (bytes <= maximum) return texts.join(', ');
  const shown: string[] = [];
  let left = maximum - bytesOf(` and ${items.length} more`);
  for (const text of texts) {
    left -= bytesOf(text) + (shown.length === 0 ? 0 : 2);
    if (left < 0) break;
    shown.push(text);
  }
  const more = `${items.length - shown.length} more`;
  return shown.length === 0 ? more : `${shown.join(', ')} and ${more}`;
}

/** A line with as many items as fit between its start and its end. */
export function listLine(start: string, items: readonly string[], end = ''): string {
  return `${start}${fitting(items, MAX_LINE_BYTES - VERB_BYTES - bytesOf(start) - bytesOf(end))}${end}`;
}

/**
 * A summary of lines that are always there, and of items that may have several lines each. Of many items it has the first
 * ones, whole, and as its last line how many they are and where the others are. Throws where a line is too long: whoever
 * makes it has to cut the names in it.
 */
export function summaryText(
  always: readonly string[],
  items: readonly (readonly string[])[],
  whereRest: string,
): string {
  const sizeOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + bytesOf(line) + 1, 0);
  const restText = (shown: number) => `${shown} of ${items.length} shown: ${whereRest} has all`;
  let left = MAX_SUMMARY_BYTES - sizeOf([...always, restText(items.length)]);
  let shown = 0;
  for (const item of items) {
    left -= sizeOf(item);
    if (left < 0) break;
    shown += 1;
  }
  const lines = [
    ...always,
    ...items.slice(0, shown).flat(),
    ...(shown < items.length ? [restText(shown)] : []),
  ];
  const long = lines.find((line) => bytesOf(line) > MAX_LINE_BYTES || line.includes('\n'));
  if (long !== undefined)
    throw new Error(`a line of a summary has ${bytesOf(long)} bytes or two lines: ${quoted(long)}`);
  return lines.join('\n');
}

/** A summary where there is one line only, such as in a list. */
export function summaryOnOneLine(summary: string): string {
  return summaryLines(summary).join('; ');
}

/** The lines of a summary, as they are signed: each is an element of an array, and so a field of its own on a device. */
export function summaryLines(summary: string): string[] {
  return summary.split('\n');
}
