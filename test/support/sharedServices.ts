import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until';

/** Of a file that has the id of a service's process. */
const SUFFIX = '.pid';
/** As docs/monitoring.md says, and a little more. */
const LIMIT_MS = 80_000;

const fileOf = (dir: string, name: string) => join(dir, `${name}${SUFFIX}`);

/** Records the process of a service that ends with the run, and not with a test file. */
export function recordService(dir: string, name: string, pid: number): void {
  writeFileSync(fileOf(dir, name), String(pid));
}

/** Whether a service is to go on: its run is not over. */
export function isExpected(dir: string, name: string): boolean {
  return existsSync(fileOf(dir, name));
}

/** Signals a process; false where there is none. */
function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Ends the services of a run before what they use: one that loses its database ends with an error. */
export async function endServices(dir: string): Promise<void> {
  const files = readdirSync(dir)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => join(dir, file));
  const pids = files.map((file) => Number(readFileSync(file, 'utf8')));
  for (const file of files) rmSync(file);
  for (const pid of pids) signalled(pid, 'SIGTERM');
  await until('the services have ended', async () => !pids.some((pid) => signalled(pid, 0)), LIMIT_MS);
}
