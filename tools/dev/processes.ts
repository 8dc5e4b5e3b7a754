import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** A process, identified by its id and its start time, because ids are reused. */
interface KnownProcess {
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
}

/** The start time of a process, as the system reports it; undefined when it does not exist. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Field 3 is the state (a zombie has ended), field 22 the start in clock ticks since boot.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    if (process.platform === 'linux') return undefined;
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Records a process for a later start. */
export function known(name: string, pid: number): KnownProcess {
  return { name, pid, startedAt: startOf(pid) ?? '' };
}

function isStillThere(known: KnownProcess): boolean {
  return startOf(known.pid) === known.startedAt;
}

/** The record of a supervisor and its parts in the data folder. */
interface SupervisorRecord {
  readonly supervisor: KnownProcess;
  readonly parts: readonly KnownProcess[];
}

/** Writes the record of a supervisor: a reader finds the former or this one, and never a part. */
export function writeRecord(file: string, record: SupervisorRecord): void {
  writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Removes the record of this process; that of another supervisor is kept. */
export function removeRecord(file: string): void {
  const { supervisor } = readRecord(file) ?? {};
  if (supervisor?.pid === process.pid) rmSync(file, { force: true });
}

function readRecord(file: string): SupervisorRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

/**
 * Ends the parts of a killed supervisor. Throws when that supervisor is alive: two on one data folder
 * would corrupt each other's files.
 */
export async function endLeftovers(
  file: string,
  dataDir: string,
  say: (line: string) => void,
): Promise<void> {
  const record = readRecord(file);
  if (!record) return;
  if (isStillThere(record.supervisor)) {
    throw new Error(
      `orgwallet is already running on the data folder ${dataDir} (process ${record.supervisor.pid}). End it first, or choose another folder with ORGWALLET_DATA_DIR=<folder> and other ports.`,
    );
  }
  let left = record.parts.filter(isStillThere);
  if (left.length === 0) return;
  say(`Ending leftovers of an earlier run: ${left.map((part) => part.name).join(', ')}`);
  for (const { pid, name } of left) send(pid, name === 'Postgres' ? 'SIGINT' : 'SIGTERM');
  const startedAt = Date.now();
  while (left.length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    left = left.filter(isStillThere);
    if (Date.now() - startedAt > 8_000) for (const { pid } of left) send(pid, 'SIGKILL');
  }
}
