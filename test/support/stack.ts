import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../../src/db/migrate';
import {
  type ChainOptions,
  fundOnLocalChain,
  type RunningChain,
  startChain,
} from '../../tools/dev/localChain';
import { LOCAL_FUNDER, type TestToken } from '../../tools/dev/localContracts';
import { writeNetworksFile, writeTokenListFile } from '../../tools/dev/localNetworks';
import type { Part } from '../../tools/dev/parts';
import { freePorts } from '../../tools/dev/ports';
import {
  type DatabaseUrls,
  ensureDatabase,
  type PostgresOptions,
  startPostgres,
} from '../../tools/dev/postgres';
import { rpc } from '../../tools/dev/rpc';
import { startTemporal, type TemporalOptions } from '../../tools/dev/temporalServer';

export { freePorts, fundOnLocalChain, LOCAL_FUNDER, rpc, writeNetworksFile, writeTokenListFile };

/** The real parts that all test files of one run share. */
export interface SharedStack {
  /** A folder that is deleted after the run. */
  readonly dir: string;
  readonly databaseAdminUrl: string;
  /** A migrated, empty database; `createTestDatabase` copies it. */
  readonly templateDatabase: string;
  /** The logins to it. */
  readonly templateUrls: DatabaseUrls;
  readonly temporalAddress: string;
  readonly temporalBinary: string;
  /** Folder of a certificate for this machine, and its key. */
  readonly tlsDir: string;
  readonly networksFile: string;
  readonly tokenListFile: string;
  readonly chains: readonly {
    readonly chainId: number;
    readonly rpcUrl: string;
    readonly token: TestToken;
  }[];
}

/** The shared parts; only tests outside test/unit have them. */
export function sharedStack(): SharedStack {
  const file = process.env.ORGWALLET_TEST_STACK;
  if (!file) throw new Error('this test runs without the shared stack: unit tests need nothing running');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A temporary folder that is deleted after the run. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(sharedStack().dir, 'own-'));
  // Postgres may run as another user, who has to come through to its files.
  chmodSync(dir, 0o755);
  return dir;
}

/** The endpoint of a network that has one. */
export function endpointOf({ rpcUrls }: { readonly rpcUrls: readonly string[] }): string {
  const [url] = rpcUrls;
  if (url === undefined || rpcUrls.length > 1) throw new Error(`these are ${rpcUrls.length} endpoints`);
  return url;
}

/** Writes the configuration of networks to a file of its own; returns its path. */
export function networksFile(networks: readonly object[]): string {
  const file = join(temporaryDir(), 'networks.json');
  writeFileSync(file, JSON.stringify(networks));
  return file;
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.toString();
}

/** Works on the maintenance database as the superuser. */
export async function asAdmin<T>(adminUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Connections to a database with each of its logins. */
export interface TestDatabase {
  /** The owner of the tables, who can do what the service must not. */
  readonly url: string;
  readonly serviceUrl: string;
  readonly signerUrl: string;
}

/** The connections to a database of the shared Postgres. */
export function databaseNamed(name: string): TestDatabase {
  const { owner, service, signer } = sharedStack().templateUrls;
  return {
    url: withDatabase(owner, name),
    serviceUrl: withDatabase(service, name),
    signerUrl: withDatabase(signer, name),
  };
}

/** A migrated database for one test file. `drop` also ends connections that are left. */
export async function createTestDatabase(): Promise<TestDatabase & { name: string; drop(): Promise<void> }> {
  const { databaseAdminUrl, templateDatabase } = sharedStack();
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying takes a lock on the template; test files that copy at the same time wait for each other.
  await asAdmin(databaseAdminUrl, async (client) => {
    await client.query('select pg_advisory_lock(4711)');
    await client.query(`create database ${name} template ${templateDatabase} owner orgwallet_owner`);
  });
  return {
    name,
    ...databaseNamed(name),
    drop: () =>
      asAdmin(databaseAdminUrl, async (client) => {
        await client.query(`drop database if exists ${name} with (force)`);
      }),
  };
}

/** Makes a database anew as a copy of another one, as a backup or from it. Connections to both are ended. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await asAdmin(sharedStack().databaseAdminUrl, async (client) => {
    await client.query(`drop database if exists ${to} with (force)`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from]);
    await client.query(`create database ${to} template ${from} owner orgwallet_owner`);
    for (const login of ['orgwallet_service', 'orgwallet_signer']) {
      await client.query(`grant connect on database ${to} to ${login}`);
    }
  });
}

/** A part that belongs to one test, which may kill it and start it again on the same port and data. */
interface OwnPart<T extends { part: Part }> {
  /** What runs now, or ran last. */
  readonly current: T;
  /** kill -9; resolves when it has ended. */
  kill(): Promise<void>;
  /** Orderly stop. */
  stop(): Promise<void>;
  /** Starts it again after `kill` or `stop`, and waits until it answers. */
  start(): Promise<void>;
  /** SIGSTOP: it stays connected and says nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
}

async function ownPart<T extends { part: Part }>(start: () => Promise<T>): Promise<OwnPart<T>> {
  let current = await start();
  const signal = (name: NodeJS.Signals) => process.kill(current.part.pid, name);
  return {
    get current() {
      return current;
    },
    kill: () => current.part.kill(),
    stop: () => current.part.stop(),
    async start() {
      if (current.part.isRunning()) throw new Error(`${current.part.name} runs already`);
      current = await start();
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  };
}

/** A Postgres of its own with one migrated database; the test stops it in `afterAll`. */
export async function startOwnPostgres(
  overrides: Partial<PostgresOptions> = {},
): Promise<OwnPart<Awaited<ReturnType<typeof startPostgres>>> & { database: TestDatabase }> {
  const dir = temporaryDir();
  const [port = 0] = await freePorts(1);
  const own = await ownPart(() =>
    startPostgres({
      dir: join(dir, 'postgres'),
      port,
      logFile: join(dir, 'postgres.log'),
      durable: false,
      ...overrides,
    }),
  );
  const {
    owner: url,
    service: serviceUrl,
    signer: signerUrl,
  } = await ensureDatabase(own.current.adminUrl, 'orgwallet');
  await migrate(url);
  return Object.assign(own, { database: { url, serviceUrl, signerUrl } });
}

/** A Temporal server of its own; the test stops it in `afterAll`. */
export async function startOwnTemporal(
  overrides: Partial<TemporalOptions> = {},
): Promise<OwnPart<Awaited<ReturnType<typeof startTemporal>>>> {
  const dir = temporaryDir();
  const [port = 0] = await freePorts(1);
  return ownPart(() =>
    startTemporal({
      binary: sharedStack().temporalBinary,
      port,
      namespace: 'default',
      databaseFile: join(dir, 'temporal.db'),
      logFile: join(dir, 'temporal.log'),
      retentionDays: 7,
      ...overrides,
    }),
  );
}

/** A chain of its own with the Safe contracts and the demo token; the test stops it in `afterAll`. */
export async function startOwnChain(
  chainId: number,
  overrides: Partial<ChainOptions> = {},
): Promise<OwnPart<RunningChain>> {
  const dir = temporaryDir();
  mkdirSync(dir, { recursive: true });
  const [port = 0] = await freePorts(1);
  return ownPart(async () => {
    const chain = await startChain({
      name: `Own Chain ${chainId}`,
      chainId,
      port,
      dir,
      logFile: join(dir, 'chain.log'),
      ...overrides,
    });
    // A start makes another watch: this one would ask for ever, in every file that comes after.
    void chain.part.exited.then(chain.stopConfirming);
    return chain;
  });
}
