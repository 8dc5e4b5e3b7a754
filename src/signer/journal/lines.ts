import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { JournalPosition } from '../../domain/signerLease';
import { type JournalEntry, JournalError } from './entries';

/** Where a line is in its file, in bytes, without its line feed. */
export interface LinePosition {
  readonly offset: number;
  readonly length: number;
}

/** One line: an entry, and what chains it to the line before it. */
export interface JournalLine {
  /** From 1. */
  readonly line: number;
  /** SHA-256 of the text of the line before it; of the first one, zeros. */
  readonly previous: string;
  /** The lease under which it was written. */
  readonly epoch: string;
  /** ISO 8601. */
  readonly at: string;
  readonly entry: JournalEntry;
}

/** The end of a journal: the next line follows it. */
export interface JournalEnd extends JournalPosition {
  /** Bytes. */
  readonly size: number;
}

const LINE_FEED = 0x0a;

/** The end of an empty journal. */
export const EMPTY: JournalEnd = { lines: 0, hash: '0'.repeat(64), size: 0 };

/** SHA-256 of the text of a line, in hex. */
export function lineHash(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function parseLine(file: string, number: number, text: Buffer, previous: string): JournalLine {
  const damaged = (what: string) =>
    new JournalError(
      `${file}, line ${number}: ${what}: the file was damaged or changed: restore it from its backup (docs/runbook.md)`,
    );
  let parsed: JournalLine;
  try {
    parsed = JSON.parse(text.toString('utf8'));
  } catch {
    throw damaged('invalid JSON');
  }
  if (parsed?.line !== number) throw damaged(`its number is ${parsed?.line}`);
  if (parsed.previous !== previous) throw damaged('it does not follow the line before it');
  if (typeof parsed.entry?.type !== 'string') throw damaged('it has no entry');
  return parsed;
}

/**
 * Reads a journal from its beginning and verifies its chain. Returns its end: bytes after it are the rest of a line
 * that a crash has torn. Throws JournalError for any other damage.
 */
export async function scanLines(
  file: string,
  onLine: (line: JournalLine, position: LinePosition) => void,
): Promise<JournalEnd> {
  let end = EMPTY;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let to = rest.indexOf(LINE_FEED); to >= 0; to = rest.indexOf(LINE_FEED, from)) {
      const text = rest.subarray(from, to);
      const line = parseLine(file, end.lines + 1, text, end.hash);
      onLine(line, { offset: end.size, length: text.length });
      end = { lines: line.line, hash: lineHash(text), size: end.size + text.length + 1 };
      from = to + 1;
    }
    rest = rest.subarray(from);
  }
  return end;
}
