/** How the demo tells what happens. */
export interface Printer {
  /** A heading. */
  chapter(title: string): void;
  /** A word on the left, and what it is about. */
  line(label: string, text: string): void;
  link(url: string): void;
  plain(text: string): void;
}

const LABEL_WIDTH = 12;

/** Prints to a stream; in colour where a person is watching and has not asked otherwise (NO_COLOR). */
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
    line: (label, text) => write(`   ${bold(label.padEnd(LABEL_WIDTH))}${text}`),
    link: (url) => write(`   ${' '.repeat(LABEL_WIDTH)}${faint(url)}`),
    plain: write,
  };
}
