import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isUnknownPosition,
  type JournalPosition,
  LEASE_HOLD_MS,
  type LeaseHold,
  type StoredLease,
} from '../../domain/signerLease';
import { JournalError } from './entries';

/** The row of the lease, which only the signer's login may write. */
export interface LeaseRow {
  read(): Promise<StoredLease>;
  take(
    before: StoredLease,
    by: LeaseHold & { readonly host: string; readonly process: number },
    how: {
      readonly position: JournalPosition;
      readonly forMs: number;
      /** A holder whose process has ended. */
      readonly dead: string | undefined;
    },
  ): Promise<boolean>;
  renew(
    hold: LeaseHold,
    how: { readonly from: JournalPosition; readonly to: JournalPosition; readonly forMs: number },
  ): Promise<boolean>;
  release(hold: LeaseHold): Promise<void>;
}

/** The journal whose position the database keeps. */
interface PositionedJournal {
  readonly file: string;
  position(): JournalPosition;
  /** The hash of a line; undefined where it has no such line. */
  hashAt(line: number): Promise<string | undefined>;
}

const RENEW_MS = 5_000;
/** The holder stops so much earlier than the database says. */
const MARGIN_MS = 2_000;
const RETRY_MS = 500;
/** No journal goes so far: one is being completed, which is begun again where it was broken off. */
export const COMPLETING: JournalPosition = { lines: Number.MAX_SAFE_INTEGER, hash: 'completing' };

const at = (time: Date | null) => time?.toISOString() ?? 'an unknown time';

/** Who has a lease, or had it last, in words: `process 71 on signer-1, since …, until …`. */
export function holderText({ host, process: pid, since, until }: StoredLease): string {
  return `process ${pid ?? '?'} on ${host ?? 'an unknown host'}, since ${at(since)}, until ${at(until)}`;
}

/**
 * Why a journal is not the one whose position the database has; undefined: it is, and may go on further than the database
 * knows.
 */
export async function positionRefusal(
  journal: PositionedJournal,
  stored: StoredLease,
): Promise<string | undefined> {
  const { lines, hash } = stored.position;
  const end = journal.position();
  const last = `the last signer was ${holderText(stored)}`;
  const todo =
    'Use the journal of that signer; where that is lost, see "The journal is lost" in docs/runbook.md';
  if (isUnknownPosition(stored.position)) {
    return `${journal.file}: how far the journal went is unknown, because the row of signer_lease was deleted: run \`./orgwallet signer reconcile-restore --write\`, with the newest journal that there is`;
  }
  if (lines === COMPLETING.lines) {
    return `${journal.file}: completing the journal was broken off: run \`./orgwallet signer reconcile-restore --write\` again (${last})`;
  }
  if (lines > end.lines) {
    return `${journal.file}: the journal has ${end.lines} lines, and the signer has written ${lines}: it is a copy or a backup (${last}). ${todo}`;
  }
  if ((await journal.hashAt(lines)) === hash) return undefined;
  return `${journal.file}: line ${lines} of the journal is not the one that the signer has written (${hash}): the journal has forked, or is of another installation (${last}). ${todo}`;
}

/**
 * The lease in the database, and the position of the journal beside it: signers on other disks, and other journals, are
 * refused. The database can only stop a signer by it. Times are of its clock; how long a hold lasts here is measured from
 * before each statement, so that it ends here first.
 */
export class DatabaseLease {
  private fencing = 0n;
  /** The position that the database has. */
  private stored: JournalPosition = { lines: 0, hash: '' };
  /** Of `performance.now()`: from then on nothing is signed. */
  private end = 0;
  private renewing: Promise<void> | undefined;
  private lost: JournalError | undefined;
  /** The database gets the position of the journal; not while one that is shorter is completed. */
  private isPublished = true;
  private isCompleting = false;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly row: LeaseRow,
    private readonly holder: string,
    private readonly journal: PositionedJournal,
    private readonly events: LeaseEvents,
  ) {}

  /**
   * Takes the lease. Waits up to `waitMs` for its holder to end. Throws JournalError, which names the holder, and at once for
   * another journal than the one whose position the database has.
   */
  static async take(
    row: LeaseRow,
    journal: PositionedJournal,
    {
      holder,
      dead,
      waitMs,
      isToBeCompleted,
      signal,
      ...events
    }: LeaseEvents & {
      holder: string;
      dead: string | undefined;
      waitMs: number;
      isToBeCompleted: boolean;
      /** Where it is aborted, its reason is thrown. */
      signal?: AbortSignal | undefined;
    },
  ): Promise<DatabaseLease> {
    const lease = new DatabaseLease(row, holder, journal, events);
    lease.isPublished = !isToBeCompleted;
    await lease.takeWithin(waitMs, dead, signal);
    // What fails is tried again, until the hold has ended.
    lease.timer = setInterval(() => void lease.renew().catch(() => undefined), RENEW_MS).unref();
    return lease;
  }

  /** The hold that the database must have where a signature is stored. */
  current(): LeaseHold {
    const { fencing, holder } = this;
    return { fencing, holder };
  }

  /**
   * Until `publish` the database has a position that no journal has: what is appended meanwhile does not make another history, however
   * far it goes.
   */
  async beginCompleting(): Promise<void> {
    this.isCompleting = !this.isPublished;
    while (this.wanted().hash !== this.stored.hash) await this.renew();
  }

  /** From now on the database has the position of this journal, which is completed. */
  async publish(): Promise<void> {
    this.isPublished = true;
    // One that runs already may move it to where it was.
    while (this.wanted().hash !== this.stored.hash) await this.renew();
  }

  /** Throws JournalError where another signer has taken over, or could have by now. */
  assertLasting(): void {
    if (this.lost) throw this.lost;
    if (performance.now() < this.end) return;
    throw new JournalError(
      'the lease in the database was not renewed in time: nothing is signed until it is',
    );
  }

  /**
   * Returns when the database has stored a position with so many lines, under a hold that lasts. Throws JournalError where
   * another signer has taken over.
   */
  async hold(lines: number): Promise<void> {
    while (this.stored.lines < lines || performance.now() >= this.end) await this.renew();
    if (this.lost) throw this.lost;
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    if (this.lost) return;
    await this.renew().catch(() => undefined);
    this.lost ??= new JournalError(`${this.journal.file}: the lease in the database is released`);
    // Where it cannot be released, it ends by itself.
    await this.row.release(this.current()).catch(() => undefined);
  }

  private async takeWithin(
    waitMs: number,
    dead: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const deadline = performance.now() + waitMs;
    let waited = false;
    for (;;) {
      const isLast = performance.now() >= deadline;
      const held = await this.takeUnlessHeld(dead).catch((error) => {
        // Any other is of the database, which is waited for as well.
        if (isLast || error instanceof JournalError) throw error;
      });
      if (held === null) return;
      if (held && isLast) {
        throw new JournalError(
          `${holderText(held)}, holds the lease of the signer in the database: one signer at a time. Stop it first; where it has crashed, its lease ends at that time`,
        );
      }
      if (held && !waited) this.events.onWaiting?.(`${holderText(held)},`);
      waited ||= held !== undefined;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }

  /** Takes it, or answers how it is held. */
  private async takeUnlessHeld(dead: string | undefined): Promise<StoredLease | null> {
    const stored = await this.row.read();
    // The answer to taking it may have been lost.
    const ended = stored.holder === this.holder ? this.holder : dead;
    return (await this.takeOver(stored, ended)) ? null : stored;
  }

  /** Takes it if nobody holds it. Throws JournalError for another journal. */
  private async takeOver(stored: StoredLease, dead?: string): Promise<boolean> {
    const refusal = await positionRefusal(this.journal, stored);
    if (refusal && !this.isCompletable(stored)) throw new JournalError(refusal);
    if (stored.isHeld && stored.holder !== dead) return false;
    const own = this.isPublished ? this.journal.position() : stored.position;
    const begin = performance.now();
    // Higher than its own as well, where the database was rolled back.
    const fencing = (stored.fencing < this.fencing ? this.current() : stored).fencing + 1n;
    const by = { fencing, holder: this.holder, host: hostname(), process: process.pid };
    if (!(await this.row.take(stored, by, { position: own, forMs: LEASE_HOLD_MS, dead }))) return false;
    this.fencing = fencing;
    this.note(own, begin);
    if (stored.position.lines < own.lines) this.events.onDatabaseBehind?.(stored.position);
    return true;
  }

  /** A journal that is shorter than the last one can be completed; one that has other lines is of another history. */
  private isCompletable({ position }: StoredLease): boolean {
    return !this.isPublished && this.journal.position().lines < position.lines;
  }

  private note(position: JournalPosition, begin: number): void {
    this.stored = position;
    this.end = begin + LEASE_HOLD_MS - MARGIN_MS;
  }

  /** The position that the database is to have. */
  private wanted(): JournalPosition {
    if (this.isPublished) return this.journal.position();
    return this.isCompleting ? COMPLETING : this.stored;
  }

  private renew(): Promise<void> {
    this.renewing ??= this.renewOnce().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewOnce(): Promise<void> {
    if (this.lost) throw this.lost;
    const to = this.wanted();
    const begin = performance.now();
    if (await this.row.renew(this.current(), { from: this.stored, to, forMs: LEASE_HOLD_MS })) {
      this.note(to, begin);
      return;
    }
    await this.examine(await this.row.read());
  }

  /** The row is not as this signer has left it. */
  private async examine(stored: StoredLease): Promise<void> {
    const isOwn = stored.holder === this.holder && stored.fencing === this.fencing;
    // A database that was rolled back to before this hold has an earlier one.
    if (!isOwn && !isUnknownPosition(stored.position) && stored.fencing >= this.fencing) {
      throw this.lose(`${holderText(stored)}, has taken the lease of the signer over: this one must end`);
    }
    const refusal = await positionRefusal(this.journal, stored);
    if (refusal) {
      const { lines, hash } = this.journal.position();
      throw this.lose(
        `${refusal} (this signer ends, and has written line ${lines} last, with the hash ${hash})`,
      );
    }
    if (isOwn) {
      // An answer was lost; or the database has lost its last commits, and this is noticed now.
      if (stored.position.lines < this.stored.lines) this.events.onDatabaseBehind?.(stored.position);
      this.stored = stored.position;
      return;
    }
    if (await this.takeOver(stored)) return;
    throw new JournalError(
      `the database was rolled back to a time when ${holderText(stored)}, held the lease of the signer: nothing is signed until it has ended`,
    );
  }

  private lose(message: string): JournalError {
    this.lost = new JournalError(message);
    clearInterval(this.timer);
    this.events.onLost?.(this.lost);
    return this.lost;
  }
}

/** What is reported of a lease in the database. */
export interface LeaseEvents {
  /** Called once when another process holds it. */
  readonly onWaiting?: ((holder: string) => void) | undefined;
  /** Called once when it is lost for good: this process must end. */
  readonly onLost?: ((error: JournalError) => void) | undefined;
  /**
   * Called where the database has a position that the journal had earlier: after a crash, of a line that nothing was signed
   * for; or because the database was rolled back.
   */
  readonly onDatabaseBehind?: ((position: JournalPosition) => void) | undefined;
}
