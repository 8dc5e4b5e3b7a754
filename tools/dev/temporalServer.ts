import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Part, startPart, untilReady } from './parts';

const run = promisify(execFile);

/** A Temporal dev server that this process has started. */
interface RunningTemporal {
  readonly part: Part;
  /** host:port of the frontend. */
  readonly address: string;
  /** Base address of the web UI; absent when it runs without one. */
  readonly uiUrl?: string;
}

export interface TemporalOptions {
  readonly binary: string;
  readonly port: number;
  /** Absent: no web UI. */
  readonly uiPort?: number;
  readonly namespace: string;
  /** SQLite file that keeps the state. Absent: the state is in memory. */
  readonly databaseFile?: string;
  readonly logFile: string;
  /** How long closed workflows stay readable in the UI. */
  readonly retentionDays: number;
  /** Values of its dynamic configuration. */
  readonly dynamicConfig?: Readonly<Record<string, number>>;
}

/** The arguments that keep the state of the dev server in a SQLite file. */
function stateIn(databaseFile: string): string[] {
  mkdirSync(dirname(databaseFile), { recursive: true, mode: 0o700 });
  return [
    ...['--db-filename', databaseFile],
    ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'],
  ];
}

const DYNAMIC_CONFIG = {
  // Tasks are given to workers by their fairness key in turn, not in the order that they came.
  'matching.enableFairness': true,
  // Partitions, and namespaces that are read every 2 s, serve clusters: a fifth of what the server takes at rest.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.namespaceCacheRefreshInterval': '"10s"',
};

/** Starts the dev server, and waits until its namespace answers. */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const address = `127.0.0.1:${options.port}`;
  const part = startPart({
    name: 'Temporal',
    command: options.binary,
    args: [
      'server',
      'start-dev',
      ...['--ip', '127.0.0.1', '--port', String(options.port)],
      ...(options.uiPort === undefined
        ? ['--headless']
        : ['--ui-ip', '127.0.0.1', '--ui-port', String(options.uiPort)]),
      ...(options.databaseFile === undefined ? [] : stateIn(options.databaseFile)),
      ...['--namespace', options.namespace],
      ...['--log-level', 'error'],
      ...Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig }).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${value}`,
      ]),
    ],
    // Its garbage is collected sooner: 20 MB less.
    env: { GOGC: '50', ...process.env },
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    stopLimitMs: 6_000,
  });
  const cli = (...args: string[]) =>
    run(options.binary, [...args, '--address', address, '--command-timeout', '5s'], { timeout: 10_000 });
  await untilReady(part, 60_000, () => cli('operator', 'cluster', 'health'), 100);
  await untilReady(
    part,
    30_000,
    () =>
      cli(
        'operator',
        'namespace',
        'update',
        '-n',
        options.namespace,
        '--retention',
        `${options.retentionDays * 24}h`,
      ),
    100,
  );
  return {
    part,
    address,
    ...(options.uiPort === undefined ? {} : { uiUrl: `http://127.0.0.1:${options.uiPort}` }),
  };
}
