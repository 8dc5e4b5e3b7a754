import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SignedGas } from '../../domain/gasBudget';
import type { Usage, UsageWindow } from '../../domain/policyEngine';
import type { JournalPosition, LeaseHold } from '../../domain/signerLease';
import { giveAsRoot, ownerOf } from '../../fileOwner';
import { DatabaseLease, type LeaseEvents, type LeaseRow } from './databaseLease';
import {
  type AccountNonce,
  type AuthorizationEntry,
  type CancellationEntry,
  type GasEntry,
  type JournalEntry,
  JournalError,
  type OutcomeEntry,
  type RejectionEntry,
  type SealEntry,
  type UnknownExecutionEntry,
} from './entries';
import {
  type Cutoff,
  type Freeze,
  type GasOwner,
  type IndexedAuthorization,
  JournalIndex,
  type TakenNonce,
} from './journalIndex';
import { type Lease, takeLease } from './lease';
import { EMPTY, type JournalEnd, type JournalLine, type LinePosition, lineHash, scanLines } from './lines';
import { failureText, WrittenFile } from './writtenFile';

/** What can be asked of a journal. */
export interface JournalReader {
  readonly file: string;
  /** Number of its lines. */
  lines(): number;
  /** How far it goes. */
  position(): JournalPosition;
  /** The hash of a line; undefined where it has no such line. */
  hashAt(line: number): Promise<string | undefined>;
  /** The installation whose database it belongs to; undefined while it is empty. */
  installationId(): string | undefined;
  /** The authorization of a transaction, without its evidence; or undefined. */
  authorizationOf(transactionId: string): IndexedAuthorization | undefined;
  /** All of them, in order. */
  authorizations(): Iterable<IndexedAuthorization>;
  /** An authorization as it was written, with its evidence. */
  readAuthorization(of: IndexedAuthorization): Promise<AuthorizationEntry>;
  /** What has taken a nonce of an account, or undefined. */
  takenAt(nonce: AccountNonce): TakenNonce | undefined;
  /** The highest nonce that is taken of an account, or undefined. */
  highestNonce(account: Pick<AccountNonce, 'accountId' | 'networkId'>): bigint | undefined;
  /** The highest nonce that was signed of a relayer, or undefined. */
  highestRelayerNonce(relayer: Pick<GasEntry, 'networkId' | 'relayerAddress'>): number | undefined;
  /** What was authorized in a window until a time, by what the signer has read of it; without one transaction. */
  usageIn(window: UsageWindow, at: Date, except?: string): Pick<Usage, 'amount' | 'executions'>;
  /** The gas that was signed for an organization on a network, of the last hour at least. */
  gasOf(owner: GasOwner): readonly SignedGas[];
  /** Everybody whose gas was signed lately. */
  gasOwners(): readonly GasOwner[];
  /** The time of its last line, in milliseconds; 0 while it is empty. */
  lastTime(): number;
  /** What the signer has read last about an authorization, or undefined. */
  outcomeOf(transactionId: string): OutcomeEntry | undefined;
  /** What it has read last about every authorization. */
  outcomes(): Iterable<OutcomeEntry>;
  /** The transactions whose outcome it has not read: all; or those of a policy, oldest first. */
  undecidedIds(policyId?: string): readonly string[];
  /** Whether a transaction was reverted or cancelled in a block that its chain has lost. */
  isUndone(transactionId: string): boolean;
  /** Id of the first transaction that stands for the same payment: the one that no replacement comes before. */
  paymentOf(transactionId: string, replaces: string | null): string;
  /**
   * The other authorized transactions that stand for the same payment: the one of `paymentOf`, and all that replace it,
   * directly and indirectly, in order.
   */
  othersOf(transactionId: string, replaces: string | null): readonly IndexedAuthorization[];
  /** The transactions that were rejected. */
  rejectedIds(): Iterable<string>;
  /** Whether a transaction was rejected. */
  isRejected(transactionId: string): boolean;
  /** The rejection of a transaction, or undefined. */
  rejection(transactionId: string): Promise<RejectionEntry | undefined>;
  /** The signed expiry of a rejected transaction, in ISO 8601; null where nothing has verified it. */
  expiryOfRejected(transactionId: string): string | null;
  /** The transactions whose cancellations are to be signed. */
  cancelledIds(): Iterable<string>;
  /** The cancellation of a transaction that is to be signed, or undefined. */
  cancellationOf(transactionId: string): CancellationEntry | undefined;
  /** Executions that nobody here has authorized. */
  unknownExecutions(): readonly UnknownExecutionEntry[];
  /** The latest cutoff that concerns an organization, or undefined. */
  cutoffOf(organizationId: string): Cutoff | undefined;
  /** The freeze that concerns an organization (null: the one of all organizations), or undefined. */
  freezeOf(organizationId: string | null): Freeze | undefined;
  activeFreezes(): readonly Freeze[];
  /** Whether a request to freeze or to unfreeze is recorded. */
  isRequestDone(id: string): boolean;
  /** Sequence and hash of the latest seal of an organization, or undefined. */
  latestSealed(organizationId: string): { readonly sequence: number; readonly hash: string } | undefined;
  /** The organizations that have seals. */
  organizationIds(): readonly string[];
  /** One seal of an organization, or undefined. */
  seal(organizationId: string, sequence: number): Promise<SealEntry | undefined>;
  close(): Promise<void>;
}

/** The journal of the one process that may write it. */
export interface Journal extends JournalReader {
  /**
   * Appends entries, together; returns when they are on the disk. An authorization, a cancellation or a seal that it has
   * already is not written again. Throws JournalError for a second authorization of a transaction or of a nonce, another
   * cancellation of a transaction, a second seal of a sequence, when another process has taken over, and for ever after a
   * failed write.
   */
  append(...entries: readonly JournalEntry[]): Promise<void>;
  /** Throws JournalError unless this process is the one that may write the journal, by what it knows. */
  assertCurrent(): void;
  /**
   * The same, and the database knows how far this journal goes: what it has may be signed. Asks the database where
   * something was appended since.
   */
  assertSignable(): Promise<void>;
  /** Before it is completed with something: where that is broken off, it can be begun again. */
  beginCompleting(): Promise<void>;
  /** The database takes over how far it goes, after it was completed. */
  publish(): Promise<void>;
  /** The hold of the lease in the database: a signature is stored only while the database has it. */
  hold(): LeaseHold | undefined;
}

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

class JournalFile implements JournalReader {
  protected readonly index = new JournalIndex();
  protected end: JournalEnd = EMPTY;
  /** Where the last line is. */
  protected last: LinePosition | undefined;

  constructor(
    readonly file: string,
    protected readonly handle: FileHandle,
  ) {}

  /** Reads and verifies the whole file. */
  async load(): Promise<void> {
    this.end = await scanLines(this.file, (line, position) => {
      this.index.add(line, position);
      this.last = position;
    });
  }

  lines = () => this.end.lines;
  position = ({ lines, hash } = this.end): JournalPosition => ({ lines, hash });
  installationId = () => this.index.installationId;
  authorizationOf = (transactionId: string) => this.index.authorizations.get(transactionId);
  authorizations = () => this.index.authorizations.values();
  takenAt = (nonce: AccountNonce) => this.index.at(nonce);
  highestNonce = (account: Pick<AccountNonce, 'accountId' | 'networkId'>) => this.index.highestNonce(account);
  highestRelayerNonce = (relayer: Pick<GasEntry, 'networkId' | 'relayerAddress'>) =>
    this.index.highestRelayerNonce(relayer);
  usageIn = (window: UsageWindow, at: Date, except?: string) => this.index.usageIn(window, at, except);
  gasOf = (owner: GasOwner) => this.index.gasOf(owner);
  gasOwners = () => this.index.gasOwners();
  lastTime = () => this.index.lastTime;
  outcomeOf = (transactionId: string) => this.index.outcomes.get(transactionId);
  outcomes = () => this.index.outcomes.values();
  undecidedIds = (policyId?: string) =>
    policyId === undefined ? [...this.index.undecided] : this.index.undecidedOf(policyId);
  isUndone = (transactionId: string) => this.index.undone.has(transactionId);
  paymentOf = (transactionId: string, replaces: string | null) =>
    this.index.paymentOf(transactionId, replaces);
  othersOf = (transactionId: string, replaces: string | null) => this.index.othersOf(transactionId, replaces);
  rejectedIds = () => this.index.rejections.keys();
  isRejected = (transactionId: string) => this.index.rejections.has(transactionId);
  expiryOfRejected = (transactionId: string) => this.index.rejections.get(transactionId)?.expiresAt ?? null;
  cancelledIds = () => this.index.cancellations.keys();
  cancellationOf = (transactionId: string) => this.index.cancellations.get(transactionId);
  unknownExecutions = () => this.index.unknownExecutions;
  organizationIds = () => this.index.organizationIds();
  cutoffOf = (organizationId: string) => this.index.cutoffOf(organizationId);
  freezeOf = (organizationId: string | null) => this.index.freezeOf(organizationId);
  activeFreezes = () => this.index.activeFreezes();
  isRequestDone = (id: string) => this.index.isRequestDone(id);

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

  async readAuthorization({ position }: IndexedAuthorization): Promise<AuthorizationEntry> {
    return this.read<AuthorizationEntry>(position);
  }

  async seal(organizationId: string, sequence: number): Promise<SealEntry | undefined> {
    const found = this.index.sealAt(organizationId, sequence);
    return found && this.read<SealEntry>(found.position);
  }

  latestSealed(organizationId: string): { readonly sequence: number; readonly hash: string } | undefined {
    const sequence = this.index.latestSequence(organizationId);
    const found = sequence === undefined ? undefined : this.index.sealAt(organizationId, sequence);
    return sequence === undefined || !found ? undefined : { sequence, hash: found.hash };
  }

  async rejection(transactionId: string): Promise<RejectionEntry | undefined> {
    const found = this.index.rejections.get(transactionId);
    return found && this.read<RejectionEntry>(found.position);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  private async read<E extends JournalEntry>({ offset, length }: LinePosition): Promise<E> {
    const { buffer } = await this.handle.read(Buffer.alloc(length), 0, length, offset);
    return (JSON.parse(buffer.toString('utf8')) as JournalLine).entry as E;
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
  if (entry.type !== 'authorization') return undefined;
  const { transactionId, accountId, networkId, safeNonce, safeTxHash } = entry;
  const nonce = `nonce ${safeNonce} of account ${accountId} on network ${networkId}`;
  return { keys: [`transaction ${transactionId}`, nonce], hash: safeTxHash };
}

class JournalWriter extends JournalFile implements Journal {
  private readonly waiting: Waiting[] = [];
  /** What entries that are not on the disk yet take. */
  private readonly claimed = new Map<string, { readonly hash: string; readonly stored: Promise<void> }>();
  private flushing: Promise<void> | undefined;
  private broken: Error | undefined;
  private databaseLease: DatabaseLease | undefined;
  private readonly written: WrittenFile;
  /** Bytes that are being appended. */
  private writing = 0;
  private readonly watch: NodeJS.Timeout;

  constructor(
    file: string,
    handle: FileHandle,
    private readonly lease: Lease,
    private readonly ownTime: () => number,
    private readonly onLost: ((error: JournalError) => void) | undefined,
  ) {
    super(file, handle);
    this.written = new WrittenFile(file, handle.fd);
    this.watch = setInterval(() => this.look(), WATCH_MS).unref();
  }

  /** Looks at the file, also while nothing is signed. */
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
    const { waitMs, onWaiting, onDatabaseBehind, isToBeCompleted = false } = options;
    const { epoch: holder, dead } = this.lease;
    this.databaseLease = await DatabaseLease.take(row, this, {
      ...{ holder, dead, waitMs, isToBeCompleted, onWaiting, onDatabaseBehind },
      onLost: (error) => this.fail(error),
    });
  }

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

  async assertSignable(): Promise<void> {
    if (this.broken) throw this.broken;
    await this.databaseLease?.hold(this.end.lines);
    this.assertCurrent();
  }

  async beginCompleting(): Promise<void> {
    await this.databaseLease?.beginCompleting();
  }

  async publish(): Promise<void> {
    await this.databaseLease?.publish();
  }

  hold = () => this.databaseLease?.current();

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
    await this.flushing;
    await this.databaseLease?.release();
    this.broken ??= new JournalError(`${this.file}: the journal is closed`);
    this.lease.release();
    await super.close();
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
    if (entry.type === 'seal') return found(this.index.sealAt(entry.organizationId, entry.sequence)?.hash);
    if (entry.type === 'cancellation') return found(this.cancellationOf(entry.transactionId)?.safeTxHash);
    if (entry.type !== 'authorization') return undefined;
    if (key.startsWith('transaction')) return found(this.authorizationOf(entry.transactionId)?.safeTxHash);
    const taken = this.takenAt({ ...entry, safeNonce: BigInt(entry.safeNonce) });
    // An unknown execution only says what became of the authorization.
    return found(taken?.transactionId === null ? undefined : taken?.safeTxHash);
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
    const at = new Date(Math.max(this.ownTime(), this.index.lastTime)).toISOString();
    const { epoch } = this.lease;
    const added: [JournalLine, LinePosition][] = [];
    const texts: string[] = [];
    let { end, last } = this;
    for (const entry of entries) {
      const line: JournalLine = { line: end.lines + 1, previous: end.hash, epoch, at, entry };
      const text = JSON.stringify(line);
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
    for (const [line, position] of added) this.index.add(line, position);
  }
}

/** Opens a journal to read it, as it is now. Throws JournalError when it is damaged, and ENOENT where there is none. */
export async function readJournal(file: string): Promise<JournalReader> {
  const journal = new JournalFile(file, await open(file, 'r'));
  try {
    await journal.load();
    return journal;
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/**
 * Opens a journal to write it, with the lease that one process has at a time; creates the file where there is none.
 * Throws JournalError when it is damaged, or held by another process.
 */
export async function openJournal(options: OpenJournal): Promise<Journal> {
  const { file, waitMs, onWaiting, onLost, onTorn, ownTime = Date.now, leaseRow } = options;
  const orReason = (error: Error) => {
    if (error instanceof JournalError) throw error;
    throw new JournalError(`${file}: cannot be written: ${failureText(error)}`, { cause: error });
  };
  const isPresent = existsSync(file);
  const owner = await Promise.resolve()
    .then(() => ownerOf(file))
    .catch(orReason);
  const lease = await takeLease(leaseFile(file), { waitMs, onWaiting, owner }).catch(orReason);
  try {
    const handle = await open(file, 'a+', 0o600).catch(orReason);
    if (!isPresent) giveAsRoot(owner, file);
    const journal = new JournalWriter(file, handle, lease, ownTime, onLost);
    await syncFolder(file);
    try {
      await journal.load();
      const torn = await journal.cutTorn();
      if (torn > 0) onTorn?.(torn);
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
