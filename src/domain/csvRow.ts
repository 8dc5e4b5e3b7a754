/**
 * What a spreadsheet would take for a formula: at the beginning, and behind a semicolon, where a cell begins as well for who opens the
 * file with semicolons as separators, whatever is quoted.
 */
const FORMULA = /(^|;)(?=['\s]*[=+\-@])/g;

function written(value: string): string {
  const harmless = value.replace(FORMULA, "$1'");
  return /[",;\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * A row of comma-separated values with its end. What a spreadsheet would run as a formula gets a `'` in front. Source: RFC 4180.
 */
export function csvRow(fields: readonly string[]): string {
  return `${fields.map(written).join(',')}\r\n`;
}
