import { type FileHandle, open } from 'node:fs/promises';
import type { JournalPosition } from '../../domain/signerLease';
import type { AuthorizationEntry, JournalEntry, RejectionEntry, SealEntry } from './entries';
import { parseLine } from './format';
import { type IndexedAuthorization, JournalIndex } from './journalIndex';
import { EMPTY, type JournalEnd, type LinePosition, scanLines } from './lines';

/** A journal as its file has it: what its entries say, and the entries themselves. */
export class JournalReader extends JournalIndex {
  protected end: JournalEnd = EMPTY;
  /** Where the last line is. */
  protected last: LinePosition | undefined;

  constructor(
    readonly file: string,
    protected readonly handle: FileHandle,
  ) {
    super();
  }

  /** Reads and verifies the whole file. Throws JournalError when it is damaged. */
  async load(): Promise<void> {
    this.end = await scanLines(this.file, (line, position) => {
      this.add(line, position);
      this.last = position;
    });
  }

  /** Number of its lines. */
  lines(): number {
    return this.end.lines;
  }

  /** How far it goes. */
  position(): JournalPosition {
    const { lines, hash } = this.end;
    return { lines, hash };
  }

  /** The hash of a line; undefined where it has no such line. */
  async hashAt(line: number): Promise<string | undefined> {
    const { end } = this;
    if (line === end.lines) return end.hash;
    if (line > end.lines) return undefined;
    let hash: string | undefined;
    await scanLines(this.file, (next) => {
      if (next.line === line + 1) hash = next.previous;
    });
    return hash;
  }

  /** An authorization as it was written, with its evidence and its record. */
  async readAuthorization({ position }: IndexedAuthorization): Promise<AuthorizationEntry> {
    return this.readEntry<AuthorizationEntry>(position);
  }

  /** A seal of an organization, or undefined. */
  async seal(organizationId: string, sequence: number): Promise<SealEntry | undefined> {
    const found = this.sealAt(organizationId, sequence);
    return found && this.readEntry<SealEntry>(found.position);
  }

  /** The rejection of a transaction, or undefined. */
  async rejection(transactionId: string): Promise<RejectionEntry | undefined> {
    const found = this.rejections.get(transactionId);
    return found && this.readEntry<RejectionEntry>(found.position);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private async readEntry<E extends JournalEntry>({ offset, length }: LinePosition): Promise<E> {
    const { buffer } = await this.handle.read(Buffer.alloc(length), 0, length, offset);
    return parseLine(buffer.toString('utf8')).entry as E;
  }
}

/** Opens a journal to read it, as it is now. Throws JournalError when it is damaged, and ENOENT where there is none. */
export async function readJournal(file: string): Promise<JournalReader> {
  const journal = new JournalReader(file, await open(file, 'r'));
  try {
    await journal.load();
    return journal;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
