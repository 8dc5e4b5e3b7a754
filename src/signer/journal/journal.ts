import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LeaseHold } from '../../domain/signerLease';
import { giveAsRoot, ownerOf } from '../../fileOwner';
import { DatabaseLease, type LeaseEvents, type LeaseRow } from './databaseLease';
import { type JournalEntry, JournalError, type UpkeepEntry } from './entries';
import { type JournalLine, lineText } from './format';
import { JournalReader } from './journalReader';
import { type Lease, takeLease } from './lease';
import { type LinePosition, lineHash } from './lines';
import { failureText, WrittenFile } from './writtenFile';

/** How a journal is opened for writing. */
export interface OpenJournal {
  readonly file: string;
  /** The lease in the database, and the position of the journal there; absent: only the file has a lease. */
  readonly leaseRow?: LeaseRow | undefined;
  /** It may be shorter than the one that the database knows, which keeps that position until `publish`. */
  readonly isToBeCompleted?: boolean;
  /** Called where the database has an earlier position of the journal. */
  readonly onDatabaseBehind?: LeaseEvents['onDatabaseBehind'];
  /** How long to wait for another process to release it, in milliseconds. */
  readonly waitMs: number;
  /** Called once when another process holds it. */
  readonly onWaiting?: (holder: string) => void;
  /** Called when nothing can be appended any more: another process has taken it over, or a write has failed. */
  readonly onLost?: (error: JournalError) => void;
  /** Called when bytes of a line that a crash has torn are cut off. */
  readonly onTorn?: (bytes: number) => void;
  /** The time of its lines, in milliseconds; absent: the machine's clock. */
  readonly ownTime?: () => number;
  /** Where it is aborted, nothing is waited for any more: its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** How often the file is looked at while nothing is signed. */
const WATCH_MS = 2_000;

/** The file of the lease beside a journal. */
export function leaseFile(file: string): string {
  return `${file}.lease`;
}

async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Entries that wait for the next write. */
interface Waiting {
  readonly entries: readonly JournalEntry[];
  readonly stored: () => void;
  readonly failed: (error: unknown) => void;
}

/** What an entry takes, of which there is one: keys, and the hash that must be the same in a repetition. */
function claimsOf(
  entry: JournalEntry,
): { readonly keys: readonly string[]; readonly hash: string } | undefined {
  if (entry.type === 'seal') {
    return { keys: [`seal ${entry.sequence} of ${entry.organizationId}`], hash: entry.hash };
  }
  if (entry.type === 'cancellation') {
    return { keys: [`cancellation of ${entry.transactionId}`], hash: entry.safeTxHash };
  }
  const nonceOf = (accountId: string, networkId: number, safeNonce: string) =>
    `nonce ${safeNonce} of account ${accountId} on network ${networkId}`;
  if (entry.type === 'upkeep') {
    const { accountId, networkId, safe, safeNonce, safeTxHash } = entry;
    return { keys: [nonceOf(accountId ?? safe, networkId, safeNonce)], hash: safeTxHash };
  }
  if (entry.type !== 'authorization') return undefined;
  const { transactionId, accountId, networkId, safeNonce, safeTxHash } = entry;
  const nonce = nonceOf(accountId, networkId, safeNonce);
  return { keys: [`transaction ${transactionId}`, nonce], hash: safeTxHash };
}

/** The journal of the one process that may write it. */
export class Journal extends JournalReader {
  private readonly waiting: Waiting[] = [];
  /** What entries that are not on the disk yet take. */
  private readonly claimed = new Map<string, { readonly hash: string; readonly stored: Promise<void> }>();
  private flushing: Promise<void> | undefined;
  private broken: Error | undefined;
  private databaseLease: DatabaseLease | undefined;
  private readonly written: WrittenFile;
  /** Bytes that are being appended. */
  private writing = 0;
  private watch: NodeJS.Timeout | undefined;

  constructor(
    file: string,
    handle: FileHandle,
    private readonly lease: Lease,
    private readonly ownTime: () => number,
    private readonly onLost: ((error: JournalError) => void) | undefined,
  ) {
    super(file, handle);
    this.written = new WrittenFile(file, handle.fd);
  }

  /** Looks at the file from now on, also while nothing is signed: before it is read whole, all of it would be of somebody else. */
  keepWatch(): void {
    this.watch = setInterval(() => this.look(), WATCH_MS).unref();
  }

  private look(): void {
    try {
      this.assertWritable();
    } catch {
      // It has ended the journal, where that is for good.
    }
  }

  /** Cuts off what a crash has torn. */
  async cutTorn(): Promise<number> {
    const { size } = await this.handle.stat();
    const torn = size - this.end.size;
    if (torn > 0) {
      await this.handle.truncate(this.end.size);
      await this.handle.sync();
    }
    return torn;
  }

  /** Takes the lease in the database as well. */
  async takeDatabaseLease(row: LeaseRow, options: OpenJournal): Promise<void> {
    const { waitMs, onWaiting, onDatabaseBehind, isToBeCompleted = false, signal } = options;
    const { epoch: holder, dead } = this.lease;
    this.databaseLease = await DatabaseLease.take(row, this, {
      ...{ holder, dead, waitMs, isToBeCompleted, onWaiting, onDatabaseBehind, signal },
      onLost: (error) => this.fail(error),
    });
  }

  /** Throws JournalError unless this process is the one that may write the journal, by what it knows. */
  assertCurrent(): void {
    this.assertWritable();
    this.databaseLease?.assertLasting();
  }

  /** Throws JournalError, for ever, unless the file is as this process has written it, under its lease. */
  private assertWritable(): void {
    if (this.broken) throw this.broken;
    try {
      this.written.assertUnchanged(this.end, this.writing);
      this.written.assertLastLine(this.end, this.last);
      this.lease.assertCurrent();
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /**
   * The same, and the database knows how far this journal goes: what it has may be signed. Asks the database where
   * something was appended since.
   */
  async assertSignable(): Promise<void> {
    if (this.broken) throw this.broken;
    await this.databaseLease?.hold(this.end.lines);
    this.assertCurrent();
  }

  /** Before it is completed with something: where that is broken off, it can be begun again. */
  async beginCompleting(): Promise<void> {
    await this.databaseLease?.beginCompleting();
  }

  /** The database takes over how far it goes, after it was completed. */
  async publish(): Promise<void> {
    await this.databaseLease?.publish();
  }

  /** The hold of the lease in the database: a signature is stored only while the database has it. */
  hold(): LeaseHold | undefined {
    return this.databaseLease?.current();
  }

  /**
   * Appends entries, together; returns when they are on the disk. An authorization, a cancellation or a seal that it has
   * already is not written again. Throws JournalError for a second authorization of a transaction or of a nonce, another
   * cancellation of a transaction, a second seal of a sequence, when another process has taken over, and for ever after a
   * failed write.
   */
  async append(...entries: readonly JournalEntry[]): Promise<void> {
    // A database that did not answer for a while has let the hold end. A freeze waits for nothing.
    const isFreeze = entries.every(({ type }) => type === 'freeze' || type === 'unfreeze');
    if (!isFreeze) await this.databaseLease?.hold(0);
    const earlier: Promise<void>[] = [];
    const wanted = entries.filter((entry) => {
      const known = this.knownAs(entry);
      if (known) earlier.push(known);
      return !known;
    });
    if (wanted.length > 0) earlier.push(this.enqueue(wanted));
    await Promise.all(earlier);
  }

  override async close(): Promise<void> {
    clearInterval(this.watch);
    try {
      await this.flushing;
      await this.databaseLease?.release();
      this.broken ??= new JournalError(`${this.file}: the journal is closed`);
      this.lease.release();
    } finally {
      // A lease on a disk that is read-only cannot be released.
      await super.close();
    }
  }

  /** When an entry was appended before: the end of that. Throws JournalError when another one has taken its place. */
  private knownAs(entry: JournalEntry): Promise<void> | undefined {
    const claims = claimsOf(entry);
    if (!claims) return undefined;
    const known = claims.keys.map((key) => this.claimed.get(key) ?? this.recordedAs(entry, key));
    const other = known.findIndex((one) => one !== undefined && one.hash !== claims.hash);
    if (other >= 0) {
      throw new JournalError(`${this.file}: ${claims.keys[other]} is recorded with ${known[other]?.hash}`);
    }
    const present = known.find((one) => one !== undefined);
    const missing = known.indexOf(undefined);
    if (present && missing >= 0) {
      throw new JournalError(
        `${this.file}: ${present.hash} is recorded, but not for ${claims.keys[missing]}`,
      );
    }
    return present?.stored;
  }

  private recordedAs(entry: JournalEntry, key: string): { hash: string; stored: Promise<void> } | undefined {
    const found = (hash: string | undefined) =>
      hash === undefined ? undefined : { hash, stored: Promise.resolve() };
    if (entry.type === 'seal') return found(this.sealAt(entry.organizationId, entry.sequence)?.hash);
    if (entry.type === 'cancellation') return found(this.cancellationOf(entry.transactionId)?.safeTxHash);
    if (entry.type === 'upkeep') return found(this.hashAtNonce(entry));
    if (entry.type !== 'authorization') return undefined;
    if (key.startsWith('transaction')) return found(this.authorizationOf(entry.transactionId)?.safeTxHash);
    const taken = this.takenAt({ ...entry, safeNonce: BigInt(entry.safeNonce) });
    // An unknown execution only says what became of the authorization.
    return found(taken?.transactionId === null && !taken.isUpkeep ? undefined : taken?.safeTxHash);
  }

  /** What is recorded at the nonce of an upkeep; an unknown execution says what became of it. */
  private hashAtNonce(entry: UpkeepEntry): string | undefined {
    const { accountId, networkId } = entry;
    const safeNonce = BigInt(entry.safeNonce);
    const own = this.upkeepsOf(entry).find((one) => BigInt(one.safeNonce) === safeNonce);
    if (own || accountId === null) return own?.safeTxHash;
    const taken = this.takenAt({ accountId, networkId, safeNonce });
    return taken?.transactionId == null ? undefined : taken.safeTxHash;
  }

  private enqueue(entries: readonly JournalEntry[]): Promise<void> {
    const stored = new Promise<void>((resolve, reject) => {
      this.waiting.push({ entries, stored: resolve, failed: reject });
    });
    const keys = entries.flatMap((entry) => {
      const claims = claimsOf(entry);
      for (const key of claims?.keys ?? []) this.claimed.set(key, { hash: claims?.hash ?? '', stored });
      return claims?.keys ?? [];
    });
    const release = () => {
      for (const key of keys) this.claimed.delete(key);
    };
    stored.then(release, release);
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
    });
    return stored;
  }

  /** Writes what waits, all of it with one flush of the disk; then what has come meanwhile. */
  private async flush(): Promise<void> {
    // What is appended in the same turn is written together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        if (this.broken) throw this.broken;
        await this.write(batch.flatMap(({ entries }) => entries));
        for (const { stored } of batch) stored();
      } catch (error) {
        // What is on the disk now is unknown: only a new start reads it.
        if (!this.broken) this.fail(error as Error);
        for (const { failed } of batch) failed(error);
      }
    }
  }

  private fail(error: Error): void {
    if (this.broken) return;
    this.broken = error;
    const message = `${this.file}: the journal cannot be written, so this process must end: ${failureText(error)}`;
    this.onLost?.(error instanceof JournalError ? error : new JournalError(message, { cause: error }));
  }

  private async write(entries: readonly JournalEntry[]): Promise<void> {
    this.assertWritable();
    // A clock that is set back moves no line before another one.
    const at = new Date(Math.max(this.ownTime(), this.lastTime())).toISOString();
    const { epoch } = this.lease;
    const added: [JournalLine, LinePosition][] = [];
    const texts: string[] = [];
    let { end, last } = this;
    for (const entry of entries) {
      const line: JournalLine = { line: end.lines + 1, previous: end.hash, epoch, at, entry };
      const text = lineText(line);
      const length = Buffer.byteLength(text);
      texts.push(`${text}\n`);
      last = { offset: end.size, length };
      added.push([line, last]);
      end = { lines: line.line, hash: lineHash(text), size: end.size + length + 1 };
    }
    this.writing = end.size - this.end.size;
    await this.handle.appendFile(texts.join(''));
    await this.handle.datasync();
    this.assertWritable();
    this.end = end;
    this.last = last;
    this.writing = 0;
    for (const [line, position] of added) this.add(line, position);
  }
}

/**
 * Opens a journal to write it, with the lease that one process has at a time; creates the file where there is none.
 * Throws JournalError when it is damaged, or held by another process, and the reason of `signal`.
 */
export async function openJournal(options: OpenJournal): Promise<Journal> {
  const { file, waitMs, onWaiting, onLost, onTorn, ownTime = Date.now, leaseRow, signal } = options;
  const orReason = (error: Error) => {
    if (error instanceof JournalError || signal?.aborted) throw error;
    throw new JournalError(`${file}: cannot be written: ${failureText(error)}`, { cause: error });
  };
  const isPresent = existsSync(file);
  const owner = await Promise.resolve()
    .then(() => ownerOf(file))
    .catch(orReason);
  const lease = await takeLease(leaseFile(file), { waitMs, onWaiting, owner, signal }).catch(orReason);
  try {
    const handle = await open(file, 'a+', 0o600).catch(orReason);
    const journal = new Journal(file, handle, lease, ownTime, onLost);
    try {
      if (!isPresent) giveAsRoot(owner, file);
      await syncFolder(file);
      await journal.load();
      const torn = await journal.cutTorn();
      if (torn > 0) onTorn?.(torn);
      journal.keepWatch();
      if (leaseRow) await journal.takeDatabaseLease(leaseRow, options);
      return journal;
    } catch (error) {
      await journal.close();
      throw error;
    }
  } catch (error) {
    lease.release();
    throw error;
  }
}
