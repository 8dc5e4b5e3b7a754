/** The output of the demo. */
export interface Printer {
  /** A heading. */
  chapter(title: string): void;
  /** A label and its text. */
  line(label: string, text: string): void;
  link(url: string): void;
  plain(text: string): void;
}

const LABEL_WIDTH = 12;
const INDENT = ' '.repeat(3 + LABEL_WIDTH);
/** The default width of the terminal, and its minimum. */
const WIDTH = 120;

/** Breaks a text between words into lines of at most `width` characters; a word that is longer stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    const longer = lines[last] ? `${lines[last]} ${word}` : word;
    if (lines[last] && longer.length > width) lines.push(word);
    else lines[last] = longer;
  }
  return lines;
}

/** Prints to a stream; in colour on a terminal, unless NO_COLOR is set. */
export function createPrinter(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Printer {
  const colours = stream.isTTY === true && !env.NO_COLOR;
  const style = (code: number, text: string) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
  const bold = (text: string) => style(1, text);
  const faint = (text: string) => style(2, text);
  const write = (text: string) => stream.write(`${text}\n`);
  let chapters = 0;
  return {
    chapter(title) {
      chapters += 1;
      write(`\n${bold(`${chapters}. ${title}`)}`);
    },
    line(label, text) {
      const width = Math.max(WIDTH, stream.columns ?? 0) - INDENT.length;
      write(`   ${bold(label.padEnd(LABEL_WIDTH))}${wrap(text, width).join(`\n${INDENT}`)}`);
    },
    link: (url) => write(`${INDENT}${faint(url)}`),
    plain: write,
  };
}
