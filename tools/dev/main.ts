import { mkdirSync } from 'node:fs';
import { withSecrets } from '../../src/secrets';
import { board } from './board';
import { lastLogLines, type Part, startedParts } from './parts';
import { endLeftovers, known, removeRecord, writeRecord } from './processes';
import { dataFiles, readStackSettings } from './settings';
import { PROCESSES, startStack } from './stack';

const PARENT_WATCH_MS = 500;
const RECORD_MS = 50;
/** The pause before a part that ended is started again; twice as long each time it ends soon after. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const STEADY_MS = 60_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Stops the service and the signer, then the parts that they need, then parts that are still starting; removes the record. */
async function stopAll(recordFile: string): Promise<void> {
  const parts = startedParts().filter((part) => part.isRunning());
  await Promise.all(parts.filter(({ name }) => PROCESSES.includes(name)).map((part) => part.stop()));
  await Promise.all(parts.map((part) => part.stop()));
  await Promise.all(startedParts().map((part) => part.kill()));
  removeRecord(recordFile);
}

/** Creates the function that stops everything once and exits with a status. */
function createStop(recordFile: string) {
  let stopped: Promise<void> | undefined;
  return {
    stopping: () => stopped !== undefined,
    stop(reason: string, status: number): Promise<void> {
      if (stopped) return stopped;
      say(`Stopping (${reason})`);
      stopped = stopAll(recordFile)
        .then(
          () => say('Stopped'),
          (error: Error) => say(error.message),
        )
        .then(() => process.exit(status));
      return stopped;
    },
  };
}

/** Stops everything on a signal, and when npm has ended: then this process has another parent. */
function watchOutside(env: NodeJS.ProcessEnv, stop: (reason: string, status: number) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal, 0));
  const parent = process.ppid;
  // The timer also keeps this process alive.
  setInterval(() => {
    if (env.npm_lifecycle_event && process.ppid !== parent) stop('npm has ended', 1);
  }, PARENT_WATCH_MS);
}

/** A part that has ended. */
interface Ended {
  readonly part: Part;
  /** Its signal or its status. */
  readonly how: string;
  /** For how long it ran, in milliseconds. */
  readonly ranMs: number;
}

/** Creates the function that reports a part that ended, and starts it again after a pause, unless `isStopping`. */
function createRestart(isStopping: () => boolean, started: () => void): (ended: Ended) => void {
  const pauses = new Map<string, number>();
  const again = ({ part, how, ranMs }: Ended) => {
    const { name, logFile } = part;
    const last = ranMs < STEADY_MS ? pauses.get(name) : undefined;
    const pauseMs = last === undefined ? FIRST_PAUSE_MS : Math.min(2 * last, LONGEST_PAUSE_MS);
    pauses.set(name, pauseMs);
    process.stderr.write(
      `${name} ended by itself (${how}) and starts again in ${pauseMs / 1_000} s. The end of ${logFile}:\n${lastLogLines(logFile)}\n`,
    );
    setTimeout(() => {
      if (isStopping()) return;
      try {
        part.startAgain();
        started();
      } catch (error) {
        // Its log cannot be opened: the disk is full, or the folder is not writable now.
        again({ part, how: (error as Error).message, ranMs: 0 });
      }
    }, pauseMs);
  };
  return again;
}

/** Records the parts for a later start, and calls `onEnd` for each that ends. */
function createPartWatch(recordFile: string, onEnd: (ended: Ended) => void) {
  const supervisor = known('supervisor', process.pid);
  const watched = new Set<Part>();
  return {
    /** What runs goes on where it cannot be recorded: the watchdog ends it all the same. */
    record() {
      const parts = startedParts().filter((part) => part.isRunning());
      try {
        writeRecord(recordFile, { supervisor, parts: parts.map(({ name, pid }) => known(name, pid)) });
      } catch (error) {
        process.stderr.write(`the running parts could not be recorded: ${(error as Error).message}\n`);
      }
    },
    watchNew() {
      const fresh = startedParts().filter((part) => !watched.has(part));
      if (fresh.length === 0) return;
      for (const part of fresh) {
        watched.add(part);
        const since = performance.now();
        void part.exited.then(({ code, signal }) =>
          onEnd({ part, how: signal ?? `status ${code}`, ranMs: performance.now() - since }),
        );
      }
      this.record();
    },
  };
}

/** Runs the embedded stack and the service until a signal or the end of the parent. A part that ends is started again. */
export async function main(given: NodeJS.ProcessEnv): Promise<void> {
  const env = withSecrets(given);
  const settings = readStackSettings(env);
  const files = dataFiles(settings.dataDir);
  // Other users may traverse the folder, for a Postgres that runs as another user, but not read its files.
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o711 });
  mkdirSync(files.logs, { recursive: true, mode: 0o700 });
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);

  const { stop, stopping } = createStop(files.supervisor);
  watchOutside(env, stop);
  let ready = false;
  const restart = createRestart(stopping, () => parts.watchNew());
  const parts = createPartWatch(files.supervisor, (ended) => {
    if (ready && !stopping()) restart(ended);
  });
  try {
    await endLeftovers(files.supervisor, settings.dataDir, say);
    parts.record();
    const recorder = setInterval(() => {
      if (!stopping()) parts.watchNew();
    }, RECORD_MS);
    const stack = await startStack(env, settings, say);
    clearInterval(recorder);
    process.stdout.write(board(settings, stack, process.cwd()));
    ready = true;
    parts.watchNew();
    const ended = startedParts().find((part) => !part.isRunning() && part.name !== 'Postgres');
    if (ended) throw new Error(`${ended.name} ended during the start`);
  } catch (error) {
    if (stopping()) return;
    process.stderr.write(`${(error as Error).message}\n`);
    await stop('the start failed', 1);
  }
}
