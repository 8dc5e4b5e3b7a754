/** Text from outside without control and direction characters: it can neither move the cursor nor imitate other output. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}|[\u2028\u2029]/gu, '\uFFFD');
}

/** Lines of columns, each as wide as its widest cell; or a sentence when there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd();
  return all.map(line).join('\n');
}

/** `1 entry`, `2 entries`. */
export function count(number: number | bigint, one: string, many: string): string {
  return `${number} ${Number(number) === 1 ? one : many}`;
}

/** A duration in one unit: `45 s`, `12 min`, `5 h`, `3 d`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const UNESCAPED_BAR = /(?<!\\)\|/;

function unescaped(text: string): string {
  return text.replace(/\\(.)|\*\*|`/g, (_, escaped = '') => escaped);
}

/** The Markdown that operators read in the Temporal UI as plain text: bold, code, escapes and tables. */
export function plainText(markdown: string): string {
  return markdown
    .split('\n\n')
    .map((paragraph) => {
      if (!paragraph.startsWith('|')) return unescaped(paragraph);
      const [head, , ...rows] = paragraph.split('\n').map((row) =>
        row
          .split(UNESCAPED_BAR)
          .slice(1, -1)
          .map((cell) => unescaped(cell.trim())),
      );
      return table(head ?? [], rows, '');
    })
    .join('\n\n');
}
