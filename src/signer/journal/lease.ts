import { randomBytes } from 'node:crypto';
import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileOwner, giveAsRoot } from '../../fileOwner';
import { JournalError } from './entries';
import { failureText } from './writtenFile';

/** The right to write a journal, which one process has at a time. */
export interface Lease {
  readonly epoch: string;
  /** The epoch of the holder before, where its process on this machine has ended without releasing it. */
  readonly dead: string | undefined;
  /** Throws JournalError when another process has it now. */
  assertCurrent(): void;
  /** Gives it up; no loss is reported afterwards. */
  release(): void;
}

/** Who holds a lease, as its file says. */
interface Holder {
  readonly epoch: string;
  readonly pid: number;
  readonly host: string;
  /** When the process began, in milliseconds: a container's process may have the pid of its predecessor. */
  readonly startedAt: number;
  /** Where its id is that of a process: the boot of the machine, and the namespace of process ids. Linux alone says so. */
  readonly machine?: string | undefined;
}

/** How often the holder proves that it runs, and after which silence another process takes over. */
const HEARTBEAT_MS = 2_000;
const SILENT_MS = 15_000;
const RETRY_MS = 200;
/** Two that take over at once: after this time both see which one has it. */
const SETTLE_MS = 30;

function readMachine(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

const own = {
  pid: process.pid,
  host: hostname(),
  startedAt: Math.round(Date.now() - process.uptime() * 1_000),
  machine: readMachine(),
};

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new JournalError(`${file}: cannot be read: ${(error as Error).message}`);
  }
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a holder's process has ended, or has been silent for too long. */
function isGone(file: string, { host, pid, startedAt }: Holder): boolean {
  if (host === own.host && !isProcess(pid)) return true;
  if (host === own.host && pid === own.pid && Math.abs(startedAt - own.startedAt) > 1_000) return true;
  try {
    return Date.now() - statSync(file).mtimeMs > SILENT_MS;
  } catch {
    return true;
  }
}

/** Whether a holder's process has certainly ended: it was one of this boot of this machine. */
function isDead({ machine, pid }: Holder): boolean {
  return machine !== undefined && machine === own.machine && !isProcess(pid);
}

/** Writes the file: only where there is none, or in place of a holder that is gone. */
function claim(
  file: string,
  { holder, present, owner }: { holder: Holder; present: Holder | undefined; owner: FileOwner },
): void {
  const temporary = `${file}.${holder.epoch}`;
  writeFileSync(temporary, `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' });
  try {
    giveAsRoot(owner, temporary);
    if (present) renameSync(temporary, file);
    else linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Whether a process holds the lease in that file now. */
export function isHeld(file: string): boolean {
  const holder = readHolder(file);
  return holder !== undefined && !isGone(file, holder);
}

/**
 * Takes the lease in a file, and keeps it until it is released. Waits up to `waitMs` for a holder to end. Throws
 * JournalError, which names the holder.
 */
export async function takeLease(
  file: string,
  {
    waitMs,
    onWaiting,
    owner,
    signal,
  }: {
    waitMs: number;
    onWaiting?: ((holder: string) => void) | undefined;
    /** Whose the file is to be, where root takes it. */
    owner: FileOwner;
    /** Where it is aborted, its reason is thrown. */
    signal?: AbortSignal | undefined;
  },
): Promise<Lease> {
  const holder: Holder = { ...own, epoch: randomBytes(8).toString('hex') };
  const isOwn = () => readHolder(file)?.epoch === holder.epoch;
  const deadline = performance.now() + waitMs;
  let dead: string | undefined;
  for (let waited = false; ; waited = true) {
    const present = readHolder(file);
    if (!present || isGone(file, present)) {
      dead = present && isDead(present) ? present.epoch : dead;
      claim(file, { holder, present, owner });
      await sleep(SETTLE_MS);
      if (isOwn()) break;
      continue;
    }
    const name = `process ${present.pid} on ${present.host}`;
    if (performance.now() >= deadline) {
      throw new JournalError(`${file}: ${name} holds the journal: one signer at a time. Stop it first`);
    }
    if (!waited) onWaiting?.(name);
    await sleep(RETRY_MS, undefined, { signal });
  }
  let failed: unknown;
  const beat = setInterval(() => {
    try {
      if (isOwn()) utimesSync(file, new Date(), new Date());
    } catch (error) {
      failed = error;
    }
  }, HEARTBEAT_MS).unref();
  return {
    epoch: holder.epoch,
    dead,
    assertCurrent() {
      const present = readHolder(file);
      if (!present)
        throw new JournalError(`${file}: the lease is not there any more: it was deleted or moved`);
      if (present.epoch !== holder.epoch) {
        throw new JournalError(`${file}: another signer has taken the journal over: this one must end`);
      }
      if (failed) throw new JournalError(`${file}: the lease cannot be renewed: ${failureText(failed)}`);
    },
    release() {
      clearInterval(beat);
      try {
        if (isOwn()) rmSync(file, { force: true });
      } catch {
        // A disk that is gone or read-only: it ends by its silence.
      }
    },
  };
}
