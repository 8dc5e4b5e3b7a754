/** A column of a table that is written to a file: its heading, and its text of a row. */
export type CsvColumn<Row> = readonly [heading: string, text: (row: Row) => string | number | undefined];

/**
 * What a spreadsheet would take for the beginning of a formula: at the beginning, and wherever else a cell begins for who opens the
 * file with other separators, whatever is quoted.
 */
const FORMULA = /(^|[;\t\r\n])(?=['\s]*[=+\-@＝＋－＠])|^(?=[\t\r])/g;

/** A negative number is not a formula, and a spreadsheet leaves what is text out of its sums. */
const NUMBER = /^-\d+(?:\.\d+)?$/;

function field(value: string | number | undefined): string {
  const text = String(value ?? '');
  const harmless = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'");
  return /[",;\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * Rows as comma-separated values. What a spreadsheet would run as a formula gets a `'` in front: names and
 * descriptions come from other people. Source: RFC 4180.
 */
export function csv<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, text]) => text(row))),
  ];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}
