/** A command that was refused, or found something broken: exit status 1. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** How a command tells its result: as one JSON document, or in words. */
export interface Output {
  /** Tells the result, once. `words` is what a person reads. */
  result(value: unknown, words: string): void;
}

/** Writes to stdout; with `json` one document and nothing else. */
export function createOutput(json: boolean): Output {
  return {
    result: (value, words) =>
      process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : `${words}\n`),
  };
}

/** Lines of columns, each as wide as its widest cell; or a sentence when there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
