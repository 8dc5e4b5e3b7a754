import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../../tools/dev/ports';
import { startOwnPostgres, type TestDatabase, temporaryDir } from './stack';
import { openSwitchedPort } from './switchedPort';
import { until } from './until';

/** A Postgres with a standby (Linux only: it reads /proc). */
export interface ReplicatedPostgres {
  readonly database: TestDatabase;
  /** The logins to whichever of both serves now. */
  readonly served: TestDatabase;
  /** The owner's login to the standby. */
  readonly standbyUrl: string;
  /** New connections lead to the standby, which is read-only, or to the primary; those that are open stay where they are. */
  serve(which: 'primary' | 'standby'): void;
  /** What is committed from now on does not reach the standby. */
  fallBehind(): Promise<void>;
  /** The primary is killed, and the standby takes its place. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(sql);
    return rows[0] ?? {};
  } finally {
    await client.end().catch(() => undefined);
  }
}

const at = (url: string, port: number) =>
  Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).toString();

/** Copies the files of a stopped server, and starts a standby with them that follows it. */
async function startStandby(primary: Awaited<ReturnType<typeof startOwnPostgres>>, port: number) {
  const { adminUrl, part } = primary.current;
  const data = String((await ask(adminUrl, 'SHOW data_directory')).data_directory);
  const program = readlinkSync(`/proc/${part.pid}/exe`);
  const files = join(temporaryDir(), 'standby');
  await primary.stop();
  execFileSync('cp', ['-a', data, files]);
  await primary.start();
  const { port: primaryPort, username, password } = new URL(adminUrl);
  writeFileSync(join(files, 'standby.signal'), '');
  const from = `host=127.0.0.1 port=${primaryPort} user=${username} password=${password}`;
  appendFileSync(join(files, 'postgresql.auto.conf'), `\nprimary_conninfo = '${from}'\n`);
  const { uid, gid } = statSync(data);
  const options = [
    '-D',
    files,
    '-p',
    String(port),
    '-k',
    '/tmp',
    '-h',
    '127.0.0.1',
    '-c',
    'max_connections=200',
  ];
  return spawn(program, options, { uid, gid, cwd: dirname(program), stdio: 'ignore' });
}

/** Starts both, the standby with everything that the primary has; every commit waits for it where it is synchronous. */
export async function startReplicatedPostgres({ isSynchronous = false } = {}): Promise<ReplicatedPostgres> {
  const primary = await startOwnPostgres({ durable: true });
  const [standbyPort = 0] = await freePorts(1);
  const standby = await startStandby(primary, standbyPort);
  const { adminUrl } = primary.current;
  const standbyAdminUrl = at(adminUrl, standbyPort);
  const primaryPort = Number(new URL(adminUrl).port);
  let stopped: number | undefined;
  const receiver = async () =>
    Number((await ask(standbyAdminUrl, 'SELECT pid FROM pg_stat_wal_receiver')).pid);
  const name = await openSwitchedPort(primaryPort);
  await until('the standby follows', async () => {
    const { state } = await ask(adminUrl, 'SELECT state FROM pg_stat_replication');
    return state === 'streaming';
  });
  if (isSynchronous) {
    await ask(adminUrl, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await ask(adminUrl, 'SELECT pg_reload_conf()');
    await until('commits wait for the standby', async () => {
      const { sync_state: state } = await ask(adminUrl, 'SELECT sync_state FROM pg_stat_replication');
      return state === 'sync';
    });
  }
  const { url, serviceUrl, signerUrl } = primary.database;
  return {
    database: primary.database,
    served: {
      url: at(url, name.port),
      serviceUrl: at(serviceUrl, name.port),
      signerUrl: at(signerUrl, name.port),
    },
    standbyUrl: at(url, standbyPort),
    serve(which) {
      name.lead(which === 'standby' ? standbyPort : primaryPort);
    },
    async fallBehind() {
      await until('the standby has everything', async () => {
        const { same } = await ask(
          adminUrl,
          'SELECT replay_lsn = pg_current_wal_lsn() AS same FROM pg_stat_replication',
        );
        return same === true;
      });
      stopped = await receiver();
      process.kill(stopped, 'SIGSTOP');
    },
    async failOver() {
      await primary.kill();
      // What has reached the machine of a standby that is behind, and not its files, is lost as well.
      if (stopped !== undefined) process.kill(stopped, 'SIGKILL');
      await until('the standby takes over', async () => {
        const { promoted } = await ask(standbyAdminUrl, 'SELECT pg_promote() AS promoted').catch(() => ({
          promoted: false,
        }));
        return promoted === true;
      });
      name.lead(standbyPort);
      name.cut();
    },
    async stop() {
      name.close();
      standby.kill('SIGINT');
      await primary.stop();
    },
  };
}
