import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/**
 * Loaded into a process before its program: begins a profile of its main thread on SIGUSR2, and on the next one writes it
 * to `BENCH_PROFILES`/<pid>.cpuprofile.
 */
function profileOnSignal(folder: string): void {
  const session = new Session();
  session.connect();
  let isRunning = false;
  const toggle = async () => {
    isRunning = !isRunning;
    if (isRunning) {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      return;
    }
    const { profile } = await session.post('Profiler.stop');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${process.pid}.cpuprofile`);
    writeFileSync(`${file}.part`, JSON.stringify(profile));
    renameSync(`${file}.part`, file);
  };
  process.on('SIGUSR2', () => void toggle());
}

profileOnSignal(process.env.BENCH_PROFILES ?? '');
