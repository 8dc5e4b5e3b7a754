/** What of a JSON text can be changed: a value, with the key that it is under, or an element of an array. */
interface JsonPart {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly isElement: boolean;
}

/** An object or an array that is not closed yet. */
interface Open {
  readonly isArray: boolean;
  /** The last one of an object; of an array, its own. */
  key: string;
  /** Where an element begins. */
  begin: number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

class Scanner {
  readonly found: JsonPart[] = [];
  private readonly open: Open[] = [];
  private isKey = false;

  take(token: string, from: number): void {
    const to = from + token.length;
    const around = this.open.at(-1);
    if (token === '{' || token === '[') {
      this.open.push({ isArray: token === '[', key: around?.key ?? '', begin: to });
      this.isKey = token === '{';
    } else if (token === '}' || token === ']') {
      this.endElement(from);
      this.open.pop();
      this.isKey = false;
    } else if (token === ',') {
      this.endElement(from);
      if (around) around.begin = to;
      this.isKey = around?.isArray === false;
    } else if (token === ':') this.isKey = false;
    else if (this.isKey && around) around.key = token.slice(1, -1);
    else this.found.push({ from, to, name: around?.key ?? '', isElement: false });
  }

  private endElement(to: number): void {
    const around = this.open.at(-1);
    if (!around?.isArray || to === around.begin) return;
    this.found.push({ from: around.begin, to, name: around.key, isElement: true });
  }
}

/** The parts of a JSON text: its numbers may have more digits than a `number` has, so that it is not parsed. */
export function jsonParts(text: string): JsonPart[] {
  const scanner = new Scanner();
  for (const match of text.matchAll(TOKEN)) scanner.take(match[0], match.index);
  return scanner.found;
}

/** Whether a text is an object or an array. */
export function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text);
}

/** A text with an element of an array left out. */
export function withoutElement(text: string, { from, to }: JsonPart): string {
  if (text[to] === ',') return text.slice(0, from) + text.slice(to + 1);
  return text.slice(0, text[from - 1] === ',' ? from - 1 : from) + text.slice(to);
}
