import { appendAudit } from '../db/audit';
import type { Db } from '../db/database';
import {
  type Destination,
  findDestination,
  finishResends,
  listResends,
  type MadeAttempt,
  moveDestination,
  type Progress,
  readSending,
  updateDestination,
} from '../db/destinations';
import { type FeedPart, type FeedPlace, readFeeds } from '../db/feed';
import { readJournalComparison } from '../db/journalComparison';
import { requireRow } from '../db/rows';
import { SYSTEM } from '../domain/actor';
import {
  type DeliveryOutcome,
  type DeliveryReason,
  type DeliveryState,
  DISABLE_AFTER_MS,
  type DisabledFor,
  type PausedFor,
  pauseMs,
} from '../domain/delivery';
import type { FeedEntry } from '../domain/feedEvent';
import { refuseUncompared } from '../domain/journalComparison';
import { failpoint } from '../failpoints';
import type { ActiveDeliveries } from './active';
import { destinationEntry } from './destinationEntry';
import { type ParcelDeps, parcelsOf } from './kinds';
import type { Parcel } from './parcels';

/** What was sent is recorded so often: a crash repeats no more. */
const FLUSH_EVENTS = 32;
const FLUSH_MS = 200;
/** How long somebody who has everything waits for more, and how often it looks. */
const LINGER_MS = 500;
const LOOK_MS = 100;
/** How long one run sends before its workflow goes on with another. */
const RUN_MS = 60_000;
/** What is wanted once more is sent for so long; then what has happened meanwhile. */
const RESEND_MS = 200;
const RESENDS_AT_ONCE = 32;

/** What sends events, and what it has them from. */
export interface DeliveryDeps extends ParcelDeps {
  readonly active: ActiveDeliveries;
  readonly countAttempt: (kind: Destination['kind'], outcome: 'taken' | 'failed') => void;
  readonly random?: () => number;
}

/** Which destination, and up to where its workflow knows that it has come. */
export interface DeliverInput {
  readonly organizationId: string;
  readonly id: string;
  /** A decimal string. */
  readonly known?: { readonly position: string; readonly hash: string } | undefined;
  /** Somebody wants an attempt now, whenever the next one is. */
  readonly isAsked?: boolean | undefined;
}

/** A state of a destination, for its workflow. */
function stateOf(row: Destination, status: DeliveryState['status'], nowMs = Date.now()): DeliveryState {
  const { kind, position, hash, attempts, lastFailure, nextAttemptAt, failingSince, disabledFor, pausedFor } =
    row;
  return {
    ...{ status, kind, hash, attempts, lastFailure },
    position: String(position),
    retryInMs: nextAttemptAt && Math.max(0, nextAttemptAt.getTime() - nowMs),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    failingSince: failingSince?.toISOString() ?? null,
    reason: pausedFor ?? disabledFor,
  };
}

const failureText = ({ status, fault, message }: DeliveryOutcome) =>
  status === null ? (message ?? fault ?? 'no answer') : `the receiver answered ${status}`;

/** Stops a destination, audited, where nobody has stopped it meanwhile. */
async function stop(
  db: Db,
  { id, organizationId }: Destination,
  why: { readonly disabledFor: DisabledFor } | { readonly pausedFor: PausedFor },
): Promise<Destination | undefined> {
  return db.transaction(async (tx) => {
    const found = await findDestination(tx, id, { lock: true });
    if (!found || found.disabledFor || found.pausedFor) return found;
    const stopped = await updateDestination(tx, id, why);
    const [action, reason] =
      'disabledFor' in why ? (['disabled', why.disabledFor] as const) : (['paused', why.pausedFor] as const);
    const { lastFailure, failingSince } = found;
    const details = { reason, lastFailure, failingSince: failingSince?.toISOString() ?? null };
    await appendAudit(tx, organizationId, [destinationEntry(found, action, SYSTEM, details)]);
    return stopped;
  });
}

/** One run of sending to one destination, in order, one event at a time. */
class Run {
  private made: MadeAttempt[] = [];
  private isTaken = false;
  private sentAtMs = performance.now();
  /** It sends nothing after that. */
  readonly until = performance.now() + RUN_MS;
  /** Up to where everything is sent, or not for it. */
  private place: FeedPlace;
  private types: ReadonlySet<string> | undefined;
  /** Something is to be sent once more, as last read. */
  hasResends = true;

  constructor(
    private readonly deps: DeliveryDeps,
    private row: Destination,
    private readonly signal: AbortSignal,
  ) {
    this.place = row;
    this.types = row.types ? new Set(row.types) : undefined;
  }

  /** Reads the record again. False where it has to stop: another process goes on, or it was stopped. */
  async refresh(): Promise<boolean> {
    const read = await readSending(this.deps.db, this.row.id);
    if (!read) return false;
    const { destination: row, hasResends } = read;
    if (row.position !== this.row.position || row.disabledFor || row.pausedFor) return false;
    this.row = row;
    this.hasResends = hasResends;
    this.types = row.types ? new Set(row.types) : undefined;
    return true;
  }

  /** Writes how far it has come. False where it has to stop: another process goes on, or it was stopped. */
  async flush({ failure, waitMs }: Pick<Progress, 'failure' | 'waitMs'> = {}): Promise<boolean> {
    const { made, isTaken, place } = this;
    const hasMoved = place.position !== this.row.position;
    if (!hasMoved && made.length === 0 && waitMs === undefined) return true;
    this.made = [];
    this.isTaken = false;
    this.sentAtMs = performance.now();
    failpoint('worker.delivery:sent');
    const moved = await moveDestination(this.deps.db, this.row.id, {
      from: this.row,
      to: place,
      made,
      isTaken,
      failure,
      waitMs,
    });
    failpoint('worker.delivery:moved');
    if (!moved) return false;
    this.row = moved;
    return !moved.disabledFor && !moved.pausedFor;
  }

  /** The row as it was last written or read. */
  get destination(): Destination {
    return this.row;
  }

  private async send(parcel: Parcel): Promise<DeliveryOutcome> {
    const outcome = await parcel.send(this.signal);
    this.signal.throwIfAborted();
    this.deps.countAttempt(this.row.kind, outcome.isTaken ? 'taken' : 'failed');
    return outcome;
  }

  private attemptOf(
    entry: FeedEntry,
    outcome: DeliveryOutcome,
    reason: DeliveryReason,
    attempt: number,
    isLast: boolean,
  ) {
    const { id, action: type, position } = entry;
    return { reason, event: { id, type, position }, attempt, isLast, outcome };
  }

  /** Sends what comes next. `stop`: no more now. */
  private async sendNext(parcel: Parcel): Promise<'next' | 'stop'> {
    const { entry } = parcel;
    const isFirst = this.place.position === this.row.position;
    const attempt = (isFirst ? this.row.attempts : 0) + 1;
    const outcome = await this.send(parcel);
    const pause =
      outcome.isTaken || outcome.isRefused
        ? undefined
        : pauseMs(attempt, outcome.retryAfterMs, (this.deps.random ?? Math.random)());
    const isLast = outcome.isTaken || pause === undefined;
    this.made.push(this.attemptOf(entry, outcome, 'event', attempt, isLast));
    if (outcome.isTaken) this.isTaken = true;
    if (isLast) this.place = { position: entry.position, hash: entry.hash };
    if (outcome.isTaken) return 'next';
    // One that is given up counts as a failure as well, and the next one begins with its first attempt.
    const attempts = pause === undefined ? 0 : attempt;
    const goesOn = await this.flush({
      failure: { attempts, text: failureText(outcome), pauseMs: pause ?? 0 },
    });
    if (outcome.isGone) await this.stopFor({ disabledFor: 'gone' });
    else if (this.hasFailedForLong()) await this.stopFor({ disabledFor: 'failing' });
    else if (goesOn && pause === undefined) return 'next';
    return 'stop';
  }

  private hasFailedForLong(): boolean {
    const { failingSince, updatedAt } = this.row;
    return failingSince !== null && updatedAt.getTime() - failingSince.getTime() >= DISABLE_AFTER_MS;
  }

  async stopFor(why: Parameters<typeof stop>[2]): Promise<void> {
    this.row = (await stop(this.deps.db, this.row, why)) ?? this.row;
  }

  /** Sends the entries that are for it. `stop`: no more now. */
  async sendAll(entries: readonly FeedEntry[]): Promise<'next' | 'stop'> {
    const { types } = this;
    const wanted = types ? entries.filter(({ action }) => types.has(action)) : entries;
    const { parcels, upTo, waitMs } = await parcelsOf(this.deps, this.row, wanted);
    for (const parcel of parcels) {
      if ((await this.sendNext(parcel)) === 'stop') return 'stop';
      const isDue = this.made.length >= FLUSH_EVENTS || performance.now() - this.sentAtMs >= FLUSH_MS;
      if (isDue && !((await this.flush()) && performance.now() < this.until)) return 'stop';
    }
    // What comes after the last one is not for it.
    const last = upTo === wanted.at(-1) ? entries.at(-1) : upTo;
    if (last && waitMs === undefined) this.place = { position: last.position, hash: last.hash };
    return (await this.flush({ waitMs })) && waitMs === undefined ? 'next' : 'stop';
  }

  /** Sends some of what is wanted once more: each once. Only webhooks have any. */
  async resend(): Promise<void> {
    if (!this.hasResends) return;
    const { db } = this.deps;
    const { id, organizationId } = this.row;
    const until = performance.now() + RESEND_MS;
    const positions = await listResends(db, id, RESENDS_AT_ONCE);
    for (const position of positions) {
      if (performance.now() >= until) break;
      const { feeds } = await readFeeds(db, new Map([[organizationId, position - 1n]]), [], 1);
      const entry = feeds.get(organizationId)?.entries[0];
      if (entry?.position === position) {
        const { parcels } = await parcelsOf(this.deps, this.row, [entry]);
        const made: MadeAttempt[] = [];
        for (const parcel of parcels) {
          made.push(this.attemptOf(entry, await this.send(parcel), 'resend', 1, true));
        }
        await finishResends(db, id, [position], made);
      } else {
        await finishResends(db, id, [position], []);
      }
    }
  }

  async read(): Promise<FeedPart> {
    const { organizationId, position } = this.row;
    const { feeds } = await readFeeds(this.deps.db, new Map([[organizationId, position]]), []);
    return requireRow(feeds.get(organizationId));
  }
}

/** Whether the log has lost what a destination has: its database was restored from a backup. */
function isRestored({ position, hash }: FeedPlace, known: DeliverInput['known']): boolean {
  if (!known) return false;
  const before = BigInt(known.position);
  return position < before || (position === before && hash !== known.hash);
}

/** Why nothing is sent to a destination now; undefined where something may be. */
async function restOf(
  db: Db,
  row: Destination,
  { known, isAsked }: DeliverInput,
): Promise<DeliveryState | undefined> {
  if (row.pausedFor) return stateOf(row, 'paused');
  if (row.disabledFor) return stateOf(row, 'disabled');
  if (isRestored(row, known)) {
    const paused = await stop(db, row, { pausedFor: 'restored' });
    return paused && stateOf(paused, 'paused');
  }
  if (!isAsked && row.nextAttemptAt && row.nextAttemptAt.getTime() > Date.now())
    return stateOf(row, 'failing');
  return undefined;
}

const removed = ({ known }: DeliverInput): DeliveryState => ({
  ...{
    status: 'removed',
    kind: 'webhook',
    attempts: 0,
    lastFailure: null,
    retryInMs: null,
    nextAttemptAt: null,
  },
  ...{ failingSince: null, reason: null, position: known?.position ?? '0', hash: known?.hash ?? '' },
});

/** Sends until there is nothing more for a while, until it has to stop, or for a minute. */
async function sendOn(run: Run, news: (ms: number) => Promise<void>): Promise<DeliveryState['status']> {
  for (let idleSince: number | undefined; performance.now() < run.until; ) {
    await run.resend();
    const part = await run.read();
    // After what it is to send: a change that the log has is in the record as well.
    if (!(await run.refresh())) return 'behind';
    if (part.hashAtPosition !== run.destination.hash) {
      await run.stopFor({ pausedFor: 'restored' });
      return 'paused';
    }
    if (part.entries.length > 0) {
      idleSince = undefined;
      if ((await run.sendAll(part.entries)) === 'stop') return 'behind';
      continue;
    }
    if (run.hasResends) {
      idleSince = undefined;
      continue;
    }
    idleSince ??= performance.now();
    if (performance.now() - idleSince >= LINGER_MS) return 'upToDate';
    await news(LOOK_MS);
  }
  return 'behind';
}

/**
 * Sends to a destination what it lacks, in order, and records it. Idempotent: what was recorded is not sent again. Another process
 * that does the same ends this one at its next write. Throws what the database throws, and the reason of the signal.
 */
export async function deliver(
  deps: DeliveryDeps,
  input: DeliverInput,
  signal: AbortSignal,
): Promise<DeliveryState> {
  const { db, active } = deps;
  const { id, organizationId } = input;
  const row = await findDestination(db, id, { organizationId });
  if (!row) return removed(input);
  const rest = await restOf(db, row, input);
  if (rest) return rest;
  const uncompared = refuseUncompared(await readJournalComparison(db));
  if (uncompared !== undefined) throw new Error(uncompared);
  const { news, end } = active.begin(id);
  const run = new Run(deps, row, signal);
  try {
    const status = await sendOn(run, news);
    if (status === 'upToDate') return stateOf(run.destination, status);
  } catch (error) {
    // What was taken is not sent again by whoever goes on.
    if (signal.aborted) await run.flush().catch(() => undefined);
    throw error;
  } finally {
    end();
  }
  const now = await findDestination(db, id, { organizationId });
  if (!now) return removed(input);
  const { position, hash } = run.destination;
  const known = { position: String(position), hash };
  return (await restOf(db, now, { ...input, known, isAsked: false })) ?? stateOf(now, 'behind');
}
