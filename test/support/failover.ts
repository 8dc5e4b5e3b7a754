import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../../tools/dev/ports';
import { startOwnPostgres, type TestDatabase, temporaryDir } from './stack';
import { until } from './until';

/** A Postgres with an asynchronous standby (Linux only: it reads /proc). */
export interface ReplicatedPostgres {
  readonly database: TestDatabase;
  /** The signer's login to whichever of both serves now. */
  readonly signerUrl: string;
  /** The same of the service's login. */
  readonly serviceUrl: string;
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

/** Starts both, the standby with everything that the primary has. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const primary = await startOwnPostgres({ durable: true });
  const [standbyPort = 0] = await freePorts(1);
  const standby = await startStandby(primary, standbyPort);
  const { adminUrl } = primary.current;
  const standbyAdminUrl = at(adminUrl, standbyPort);
  const sockets = new Set<Socket>();
  let serving = Number(new URL(adminUrl).port);
  let receiver = 0;
  const server = createServer((client) => {
    const behind = connect(serving, '127.0.0.1');
    for (const socket of [client, behind]) sockets.add(socket.on('error', () => undefined));
    client.on('close', () => behind.destroy()).pipe(behind);
    behind.on('close', () => client.destroy()).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await until('the standby follows', async () => {
    const { state } = await ask(adminUrl, 'SELECT state FROM pg_stat_replication');
    return state === 'streaming';
  });
  return {
    database: primary.database,
    signerUrl: at(primary.database.signerUrl, port),
    serviceUrl: at(primary.database.serviceUrl, port),
    standbyUrl: at(primary.database.url, standbyPort),
    serve(which) {
      serving = which === 'standby' ? standbyPort : Number(new URL(adminUrl).port);
    },
    async fallBehind() {
      await until('the standby has everything', async () => {
        const { same } = await ask(
          adminUrl,
          'SELECT replay_lsn = pg_current_wal_lsn() AS same FROM pg_stat_replication',
        );
        return same === true;
      });
      receiver = Number((await ask(standbyAdminUrl, 'SELECT pid FROM pg_stat_wal_receiver')).pid);
      process.kill(receiver, 'SIGSTOP');
    },
    async failOver() {
      await primary.kill();
      // What has reached its machine, and not its files, is lost as well.
      process.kill(receiver, 'SIGKILL');
      await until('the standby takes over', async () => {
        const { promoted } = await ask(standbyAdminUrl, 'SELECT pg_promote() AS promoted').catch(() => ({
          promoted: false,
        }));
        return promoted === true;
      });
      serving = standbyPort;
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      standby.kill('SIGINT');
      await primary.stop();
    },
  };
}
