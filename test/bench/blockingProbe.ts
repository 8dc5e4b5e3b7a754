import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into a process before its program: on SIGUSR2 it writes to `BENCH_PROFILES`/<pid>.blocked for how long its main
 * thread was blocked at most since the last time, in milliseconds.
 */
function reportOnSignal(folder: string): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${process.pid}.blocked`);
    writeFileSync(`${file}.part`, String(delay.max / 1e6));
    delay.reset();
    renameSync(`${file}.part`, file);
  });
}

reportOnSignal(process.env.BENCH_PROFILES ?? '');
