import { type BigIntStats, fstatSync, readSync, statSync } from 'node:fs';
import { JournalError } from './entries';
import { type JournalEnd, type LinePosition, lineHash } from './lines';

/** What keeps a file from being written, in words; the code itself for what is not a state of its disk. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its quota is used up',
  EROFS: 'its disk is read-only',
  EIO: 'its disk has failed',
};

/** Why a file cannot be written or read, in words. */
export function failureText(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] === undefined ? message : `${REASONS[code]} (${message})`;
}

/** The journal as its process has written it: whether the file at its path is still that one. */
export class WrittenFile {
  private readonly opened: BigIntStats;

  constructor(
    private readonly path: string,
    private readonly descriptor: number,
  ) {
    this.opened = fstatSync(descriptor, { bigint: true });
  }

  /**
   * Throws JournalError unless the file at the path is the one that was opened, as long as it was written; `writing`: bytes
   * that are being appended.
   */
  assertUnchanged({ size }: JournalEnd, writing = 0): void {
    const found = this.stat();
    if (found.dev !== this.opened.dev || found.ino !== this.opened.ino) {
      throw this.changed('another file is in its place: it was replaced, or another disk is mounted there');
    }
    const has = Number(found.size);
    if (has < size) {
      throw this.changed(`it has ${has} bytes, and ${size} were written: it was truncated`);
    }
    if (has > size + writing) throw this.changed('something else has written to it');
  }

  /** Throws JournalError unless the last line is the one that was written. */
  assertLastLine({ hash }: JournalEnd, last: LinePosition | undefined): void {
    if (!last) return;
    const text = Buffer.alloc(last.length);
    const read = readSync(this.descriptor, text, 0, last.length, last.offset);
    if (read !== last.length || lineHash(text) !== hash) throw this.changed('its last line was changed');
  }

  private stat(): BigIntStats {
    try {
      return statSync(this.path, { bigint: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        throw this.changed(
          'the journal is not there any more: it was deleted or moved, or its disk is unmounted',
        );
      }
      throw this.changed(failureText(error));
    }
  }

  private changed(what: string): JournalError {
    return new JournalError(
      `${this.path}: ${what}. Nothing more is signed: see "The journal is gone" in docs/runbook.md`,
    );
  }
}
