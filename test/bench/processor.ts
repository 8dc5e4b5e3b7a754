import { readdirSync, readFileSync } from 'node:fs';

/** The clock tick of Linux, which is where this works. */
const TICK_MS = 10;

/** The processor time of a process and of its children, in milliseconds. Source: proc(5). */
export function processorMs(pid: number): number {
  let ticks = 0;
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The name of the command may have spaces; it ends with the last parenthesis.
      const text = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const isOwn = Number(entry) === pid;
      if (!isOwn && Number(fields[1]) !== pid) continue;
      const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
      ticks += (user ?? 0) + (system ?? 0);
      if (isOwn) ticks += (childUser ?? 0) + (childSystem ?? 0);
    } catch {
      // It has ended.
    }
  }
  return ticks * TICK_MS;
}
