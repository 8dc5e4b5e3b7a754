import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { giveAsRoot, ownerOf } from '../../fileOwner';
import { type FreezeEntry, JournalError } from './entries';
import { type Journal, leaseFile } from './journal';
import { isHeld } from './lease';

/** Requests to freeze, as files beside the journal: only the holder of its lease can append them. */
function requestFolder(file: string): string {
  return `${file}.requests`;
}

/** Leaves a request for the holder of the journal. Returns its file. */
function writeRequest(file: string, entry: FreezeEntry): string {
  const folder = requestFolder(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = ownerOf(file);
  giveAsRoot(owner, folder);
  const path = join(folder, `${entry.id}.json`);
  writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600 });
  giveAsRoot(owner, `${path}.new`);
  renameSync(`${path}.new`, path);
  return path;
}

/** The requests that wait, by their files. */
function waiting(file: string): [path: string, entry: FreezeEntry][] {
  const folder = requestFolder(file);
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return paths
    .map((name) => join(folder, name))
    .map((path) => [path, JSON.parse(readFileSync(path, 'utf8'))]);
}

/**
 * Appends the requests that wait. `record` is called after each is in the journal, and again after a failure: it is
 * idempotent by the request's id.
 */
export async function takeRequests(
  journal: Journal,
  record: (entry: FreezeEntry) => Promise<void>,
): Promise<void> {
  for (const [path, entry] of waiting(journal.file)) {
    if (!journal.isRequestDone(entry.id)) await journal.append(entry);
    await record(entry);
    rmSync(path, { force: true });
  }
}

const POLL_MS = 100;

/**
 * Asks for a freeze, or for its end, and waits until the journal has it: the signer that runs appends it, or else this
 * process, with the journal that `open` opens. Throws JournalError when the signer does not react in time.
 */
export async function requestFreeze(
  file: string,
  asked: Pick<FreezeEntry, 'type' | 'organizationId'>,
  options: {
    readonly waitMs: number;
    readonly open: () => Promise<Journal>;
    readonly record: (entry: FreezeEntry) => Promise<void>;
  },
): Promise<FreezeEntry> {
  const entry: FreezeEntry = { ...asked, id: randomUUID() };
  const path = writeRequest(file, entry);
  for (const end = performance.now() + options.waitMs; existsSync(path); await sleep(POLL_MS)) {
    if (!isHeld(leaseFile(file))) {
      const journal = await options.open();
      try {
        await takeRequests(journal, options.record);
      } finally {
        await journal.close();
      }
    } else if (performance.now() > end) {
      throw new JournalError(
        `the signer has not taken the request up (${path}): it does so when it can; see its log`,
      );
    }
  }
  return entry;
}
