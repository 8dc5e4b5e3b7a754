import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

/** The ids of a process and of everything that it has started, itself first. */
export function processTree(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const tree = [pid];
  for (const parent of tree) tree.push(...rows.filter(([, of]) => of === parent).map(([id = 0]) => id));
  return tree;
}

/** Sends a signal to processes, some of which may have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/**
 * Lets processes write no file beyond so many bytes, as on a disk that is full: what they write fails (EFBIG).
 * `unlimited` is the disk with space again. Linux only.
 */
export function limitFiles(pids: readonly number[], bytes: number | 'unlimited'): void {
  for (const pid of pids) {
    try {
      // As the user of that process: Postgres does not run as root.
      const { uid, gid } = statSync(`/proc/${pid}`);
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], { uid, gid, stdio: 'pipe' });
    } catch (error) {
      if (existsSync(`/proc/${pid}`)) throw error;
    }
  }
}
