import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Part, startPart, untilReady } from '../../tools/dev/parts';
import { installPackages } from './debianPackages';
import { asAdmin, freePorts, type TestDatabase, temporaryDir } from './stack';

const LOGINS = ['orgwallet_service', 'orgwallet_signer'];
const SETTINGS = [
  ['TimeZone', 'UTC'],
  ['statement_timeout', '8s'],
  ['idle_in_transaction_session_timeout', '30s'],
];

/** A PgBouncer that can be started, more than once. */
export interface Pooler {
  start(): Promise<Part>;
  /** The URL of the same login and database through it. */
  through(url: string): string;
}

/** Gives the logins the settings that docs/postgres.md has for a pooler. Connections that are open do not have them. */
export async function setForPooler(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    for (const login of LOGINS) {
      for (const [setting, value] of SETTINGS) {
        await admin.query(`ALTER ROLE ${login} IN DATABASE ${name} SET ${setting} = '${value}'`);
      }
    }
  });
}

/** Installs Debian's package where it is missing. Throws when it cannot be had here. */
function installed(): string {
  const has = () => spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  if (has().status === 0) return 'pgbouncer';
  installPackages('pgbouncer');
  const found = has();
  if (found.status !== 0) throw new Error(`PgBouncer does not run: ${found.stderr}`);
  return 'pgbouncer';
}

/** PgBouncer in transaction mode before the server of a database. Fewer connections to the server than to it. */
export async function configurePooler(database: TestDatabase): Promise<Pooler> {
  const program = installed();
  const dir = temporaryDir();
  const [port] = await freePorts(1);
  const { host, port: serverPort } = new Client({ connectionString: database.url });
  const users = [database.serviceUrl, database.signerUrl].map((url) => {
    const { user, password } = new Client({ connectionString: url });
    return `"${user}" "${password ?? ''}"`;
  });
  mkdirSync(join(dir, 'pgbouncer'));
  const file = (name: string) => join(dir, 'pgbouncer', name);
  writeFileSync(file('users.txt'), users.join('\n'));
  writeFileSync(
    file('pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${host} port=${serverPort}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = trust', `auth_file = ${file('users.txt')}`],
      ...['pool_mode = transaction', 'default_pool_size = 4', 'max_client_conn = 200'],
    ].join('\n'),
  );
  spawnSync('chmod', ['-R', 'a+rX', dir]);
  const asRoot = process.getuid?.() === 0;
  const through = (url: string) => {
    const { user, password, database: name } = new Client({ connectionString: url });
    return `postgresql://${user}:${password}@127.0.0.1:${port}/${name}`;
  };
  return {
    through,
    async start() {
      const part = startPart({
        name: 'PgBouncer',
        command: program,
        args: [...(asRoot ? ['-u', 'postgres'] : []), file('pgbouncer.ini')],
        logFile: join(temporaryDir(), 'pgbouncer.log'),
        stopSignal: 'SIGINT',
        stopLimitMs: 5_000,
      });
      await untilReady(part, 10_000, async () => {
        const client = new Client({ connectionString: through(database.serviceUrl) });
        await client.connect();
        await client.end();
      });
      return part;
    },
  };
}
