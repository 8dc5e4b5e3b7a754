import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { CommandRefused } from './output';
import { fileProblem } from './problems';

/** More than any organization, genesis, intent or signature has. */
const MAX_BYTES = 32 * 2 ** 20;
const CHUNK_BYTES = 2 ** 16;

/** The bytes of a file, or of a pipe such as `<(…)`, which may have no end. Throws CommandRefused for one that is too large. */
function bytesOf(file: string, maxBytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let size = 0; ; ) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) return Buffer.concat(chunks);
      size += read;
      if (size > maxBytes) throw new CommandRefused(`${file}: too large (at most ${maxBytes / 2 ** 20} MiB)`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Text in UTF-8; or in UTF-16, as some shells write what a program prints (`>`), by its byte order mark. Without that mark. */
function textIn(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** Reads a file that a command was given. Throws CommandRefused that names it. */
export function readInputFile(
  file: string,
  { maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {},
): string {
  try {
    return textIn(bytesOf(file, maxBytes));
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandRefused(`${file}: ${fileProblem(code) ?? message}`);
  }
}

/** Reads JSON from a file that a command was given, or from standard input (`-`). Throws CommandRefused that names it. */
export function readInputJson(file: string): unknown {
  try {
    return JSON.parse(file === '-' ? readFileSync(0, 'utf8') : readInputFile(file));
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    throw new CommandRefused(`${file}: ${(error as Error).message}`);
  }
}
