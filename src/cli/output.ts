import { printable } from './text';

/** The environment and the output streams of a command. */
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

/** A command was refused, or a check failed: exit status 1. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** How a command reports its result: as one JSON document or as text. */
export interface Output {
  /** Reports the result, once. `words` is the text for people. */
  result(value: unknown, words: string): void;
  /** Writes a document as it is. */
  document(text: string): void;
  /** Reports something besides the result to people, on stderr. */
  note(words: string): void;
}

/** Writes results to stdout; with `json` one document and nothing else. */
export function createOutput(terminal: Terminal, json: boolean): Output {
  return {
    result: (value, words) =>
      terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : `${printable(words)}\n`),
    document: (text) => terminal.out(text),
    note: (words) => terminal.err(`${printable(words)}\n`),
  };
}
