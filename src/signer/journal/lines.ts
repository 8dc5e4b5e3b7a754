import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { JournalPosition } from '../../domain/signerLease';
import { JournalError } from './entries';
import { assertFollows, type JournalLine, parseLine } from './format';

/** Where a line is in its file, in bytes, without its line feed. */
export interface LinePosition {
  readonly offset: number;
  readonly length: number;
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

/** Line `number` of a file. Throws JournalError, with file and line, where it is not the one that follows. */
function readLine(file: string, number: number, text: Buffer, previous: string): JournalLine {
  try {
    const line = parseLine(text.toString('utf8'));
    assertFollows(line, number, previous);
    return line;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    throw new JournalError(`${file}, line ${number}: ${error.message}`);
  }
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
      const line = readLine(file, end.lines + 1, text, end.hash);
      onLine(line, { offset: end.size, length: text.length });
      end = { lines: line.line, hash: lineHash(text), size: end.size + text.length + 1 };
      from = to + 1;
    }
    rest = rest.subarray(from);
  }
  return end;
}
