import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { giveAsRoot, ownerOf } from '../../fileOwner';
import { type FreezeEntry, JournalError } from './entries';
import { requestFolder, takeRequests } from './freezeRequests';
import { type Journal, leaseFile } from './journal';
import { isHeld } from './lease';

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
