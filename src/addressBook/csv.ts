import type { AddressBookEntry } from '../db/addressBook';
import { csvRow } from '../domain/csvRow';

/** The columns of the file that this writes. It reads them in any order, and no others matter. */
const COLUMNS = ['address', 'name', 'chainId'] as const;
/** The most rows of a file. */
export const MAX_ROWS = 1_000;
/** No row needs more characters: those of a name, an address, and what quotes them. */
const MAX_ROW_LENGTH = 2_000;

/**
 * What was made harmless: a spreadsheet would take it for a formula. At the beginning, and behind a semicolon, where a cell begins as
 * well for who opens the file with semicolons as separators, whatever is quoted.
 */
const HARMLESS = /(^|;)'(?=['\s]*[=+\-@])/g;

/** A row of a file, and the line where it begins; the first line is 1. */
export interface CsvRow {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Why a file cannot be read, and where. */
interface CsvFault {
  readonly line: number;
  readonly message: string;
}

/** A text that is read from its beginning. */
interface Scanned {
  readonly text: string;
  readonly delimiter: string;
}

/** A field, and where what follows it begins. */
interface Field {
  readonly value: string;
  readonly end: number;
}

/** Reads a field in quotes from its quote on. Undefined where its end is missing, or too far away. */
function quotedField(text: string, start: number): Field | undefined {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0 || quote - start > MAX_ROW_LENGTH) return undefined;
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}

const isRowEnd = (character: string | undefined) =>
  character === undefined || character === '\n' || character === '\r';

/** Where the line that ends at a place is followed by the next one. */
const lineEnd = (text: string, at: number) => at + (text.startsWith('\r\n', at) ? 2 : 1);

function plainField({ text, delimiter }: Scanned, start: number): Field {
  let end = start;
  while (!isRowEnd(text[end]) && text[end] !== delimiter) end += 1;
  return { value: text.slice(start, end), end };
}

/** The fields of the row that begins at a place, and where the next one begins; or what is wrong with it. */
function scanRow(
  scanned: Scanned,
  start: number,
): { readonly fields: readonly string[]; readonly end: number } | { readonly message: string } {
  const { text, delimiter } = scanned;
  const fields: string[] = [];
  for (let at = start; ; at += 1) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(scanned, at);
    if (!field) return { message: `has a quote that is not closed within ${MAX_ROW_LENGTH} characters` };
    fields.push(field.value);
    at = field.end;
    if (at - start > MAX_ROW_LENGTH) return { message: `has more than ${MAX_ROW_LENGTH} characters` };
    if (text[at] === delimiter) continue;
    if (!isRowEnd(text[at])) return { message: 'has text after a closing quote' };
    return { fields, end: lineEnd(text, at) };
  }
}

/** Where the first line has semicolons and no comma, they separate. */
function delimiterOf(text: string): string {
  const { value: firstLine } = plainField({ text, delimiter: '' }, 0);
  return firstLine.includes(';') && !firstLine.includes(',') ? ';' : ',';
}

const linesIn = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;

/**
 * The rows of comma-separated values, without those that are empty: the first one and at most `MAX_ROWS` below it. A byte order mark
 * is left out. Source: RFC 4180.
 */
export function readCsv(file: string): readonly CsvRow[] | CsvFault {
  const text = file.replace(/^\ufeff/, '');
  const scanned = { text, delimiter: delimiterOf(text) };
  const rows: CsvRow[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    // Skipped without a row: a file can have a million of them.
    if (isRowEnd(text[at])) {
      at = lineEnd(text, at);
      line += 1;
      continue;
    }
    const row = scanRow(scanned, at);
    if ('message' in row) return { line, message: row.message };
    const { fields, end } = row;
    if (fields.some((field) => field.trim() !== '')) {
      if (rows.length > MAX_ROWS)
        return { line, message: `is too much: a file has at most ${MAX_ROWS} rows` };
      rows.push({ line, fields });
    }
    line += linesIn(text.slice(at, end));
    at = end;
  }
  return rows;
}

/** A name in a file as it is in the book. */
export function readName(field: string): string {
  return field.trim().replace(HARMLESS, '$1');
}

/**
 * Entries as a file: their address after the short name of their network (EIP-3770), where it has one. What a spreadsheet would run
 * as a formula gets a `'` in front, which reading takes away.
 */
export function writeCsv(
  entries: readonly Pick<AddressBookEntry, 'name' | 'address' | 'networkId'>[],
  shortNameOf: (networkId: number) => string | undefined,
): string {
  const rows = entries.map(({ name, address, networkId }) => {
    const shortName = networkId === null ? undefined : shortNameOf(networkId);
    const prefix = shortName === undefined ? '' : `${shortName}:`;
    return [`${prefix}${address}`, name, networkId === null ? '' : String(networkId)];
  });
  return [COLUMNS, ...rows].map(csvRow).join('');
}
