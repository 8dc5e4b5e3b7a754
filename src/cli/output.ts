import { printable } from './text';

/** Where a command reads its settings and writes what it has to say. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  out(text: string): void;
  err(text: string): void;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  };
}

/** A command that was refused, or found something broken: exit status 1. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** How a command tells its result: as one JSON document, or in words. */
export interface Output {
  /** Tells the result, once. `words` is what a person reads. */
  result(value: unknown, words: string): void;
  /** Tells a person something besides the result, on stderr. */
  note(words: string): void;
}

/** Writes results to stdout; with `json` one document and nothing else. */
export function createOutput(terminal: Terminal, json: boolean): Output {
  return {
    result: (value, words) =>
      terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : `${printable(words)}\n`),
    note: (words) => terminal.err(`${printable(words)}\n`),
  };
}
