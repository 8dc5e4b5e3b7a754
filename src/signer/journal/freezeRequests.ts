import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FreezeEntry } from './entries';
import type { Journal } from './journal';

/** Requests to freeze, as files beside the journal: only the holder of its lease can append them. */
export function requestFolder(file: string): string {
  return `${file}.requests`;
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
