import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { projectRoot } from '../../src/projectRoot';

/** How a process ended. */
interface PartExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running process of the embedded stack. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended. Never rejects. */
  readonly exited: Promise<PartExit>;
  /** True until the process has ended. */
  isRunning(): boolean;
  /** Signals the process to end, and kills it after its limit. */
  stop(): Promise<void>;
  /** SIGKILL to the process and its group; resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts the same program again, with the same settings. */
  startAgain(): Part;
}

interface PartSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** User and group the process runs as; those of this process when absent. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The signal for a graceful stop. */
  readonly stopSignal: NodeJS.Signals;
  /** The limit of a graceful stop, in milliseconds. */
  readonly stopLimitMs: number;
}

/** A part that could not start or ended before it was ready; includes the end of its log. */
export class PartFailed extends Error {
  override readonly name = 'PartFailed';
  constructor(
    readonly part: string,
    message: string,
    readonly logFile: string,
  ) {
    super(message);
  }
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const projectDir = projectRoot();

const started: Part[] = [];

/** Every part that this process has started, including ended ones. */
export function startedParts(): readonly Part[] {
  return started;
}

let watchdogInput: Writable | undefined;

/** The pipe to the watchdog of this process, started with the first part. */
function watchdog(): Writable {
  if (watchdogInput) return watchdogInput;
  const child = spawn(process.execPath, [join(projectDir, 'tools', 'dev', 'watchdog.mjs')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: {},
  });
  child.unref();
  const input = child.stdin;
  input.on('error', () => undefined);
  (input as unknown as { unref(): void }).unref();
  watchdogInput = input;
  return input;
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(file) && statSync(file).size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** How much of a log is read for its last lines: a part that has run for long has a large one. */
const LOG_END_BYTES = 64 * 1024;

/** The last `count` lines of a log file; an empty text when there is none. */
export function lastLogLines(file: string, count = 15): string {
  try {
    const log = openSync(file, 'r');
    try {
      const end = Buffer.alloc(LOG_END_BYTES);
      const read = readSync(log, end, 0, end.length, Math.max(0, statSync(file).size - end.length));
      return end.toString('utf8', 0, read).trimEnd().split('\n').slice(-count).join('\n');
    } finally {
      closeSync(log);
    }
  } catch {
    return '';
  }
}

/**
 * Starts a process in its own group, with its output appended to a log, under the watchdog of this process. Not execa:
 * it ends its children when its process exits, but neither after a kill -9 nor their whole group.
 */
export function startPart(spec: PartSpec): Part {
  const log = openLog(spec.logFile);
  let child: ChildProcess;
  try {
    child = spawn(spec.command, spec.args, {
      detached: true,
      stdio: ['ignore', log, log],
      ...(spec.cwd ? { cwd: spec.cwd } : {}),
      ...(spec.env ? { env: spec.env } : {}),
      ...(spec.user ?? {}),
    });
  } finally {
    closeSync(log);
  }
  // A part does not keep this process alive; the watchdog ends it.
  child.unref();
  const pid = child.pid ?? 0;
  if (pid) {
    watchdog().write(`${JSON.stringify({ add: pid, signal: spec.stopSignal, limitMs: spec.stopLimitMs })}\n`);
  }
  let running = pid !== 0;
  const exited = new Promise<PartExit>((resolve) => {
    const ended = (exit: PartExit) => {
      running = false;
      if (pid) watchdog().write(`${JSON.stringify({ remove: pid })}\n`);
      resolve(exit);
    };
    child.once('exit', (code, signal) => ended({ code, signal }));
    child.once('error', () => {
      if (!pid) ended({ code: null, signal: null });
    });
  });
  const signalProcess = (target: number, signal: NodeJS.Signals) => {
    try {
      process.kill(target, signal);
    } catch {
      // already gone
    }
  };
  const untilExited = async () => {
    const keepAlive = setInterval(() => undefined, 1_000);
    await exited;
    clearInterval(keepAlive);
  };
  const kill = async () => {
    if (running) {
      signalProcess(-pid, 'SIGKILL');
      signalProcess(pid, 'SIGKILL');
    }
    await untilExited();
  };
  const part: Part = {
    name: spec.name,
    pid,
    logFile: spec.logFile,
    exited,
    isRunning: () => running,
    kill,
    startAgain: () => startPart(spec),
    async stop() {
      if (running) signalProcess(pid, spec.stopSignal);
      const timer = setTimeout(() => void kill(), spec.stopLimitMs);
      await untilExited();
      clearTimeout(timer);
    },
  };
  started.push(part);
  return part;
}

/**
 * Waits until `probe` succeeds. Throws PartFailed with the last lines of the log when the part ends before,
 * or when it takes longer than `limitMs`.
 */
export async function untilReady(
  part: Part,
  limitMs: number,
  probe: () => Promise<unknown>,
  intervalMs = 50,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    try {
      if (part.isRunning()) {
        await probe();
        return;
      }
    } catch {
      // not yet
    }
    if (!part.isRunning()) {
      throw new PartFailed(
        part.name,
        `${part.name} ended before it was ready. The end of ${part.logFile}:\n${lastLogLines(part.logFile)}`,
        part.logFile,
      );
    }
    if (Date.now() > deadline) {
      await part.kill();
      throw new PartFailed(
        part.name,
        `${part.name} was not ready within ${Math.round(limitMs / 1000)} s. The end of ${part.logFile}:\n${lastLogLines(part.logFile)}`,
        part.logFile,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
