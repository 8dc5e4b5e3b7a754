/** @deep */
import type { AddressInfo } from 'node:net';
import { connect, createServer, type NetConnectOpts, type Server } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { MessageReader } from '../support/postgresMessages';
import { random } from '../support/random';
import { databaseSettings, serviceSettings, startServicePart } from '../support/service';
import { startHosted } from '../support/serviceHost';
import { createTestDatabase, temporaryDir } from '../support/stack';
import { DEEP, itDeep } from '../support/suite';

const LIMIT_MS = 170_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  settings = await serviceSettings({ database: databaseSettings(database) });
}, LIMIT_MS);
afterAll(() => database?.drop());

/** Where a URL leads: a port, or a socket. */
function targetOf({ host, port }: Client): NetConnectOpts {
  return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}

/** A server before Postgres that ends a connection in place of executing one of the statements that it gets, and counts them. */
interface Cutting {
  readonly urlOf: (url: string) => string;
  statements(): number;
  readonly server: Server;
}

async function cutting(url: string, at: number): Promise<Cutting> {
  let statements = 0;
  const target = targetOf(new Client({ connectionString: url }));
  const server = createServer((client) => {
    const upstream = connect(target);
    const messages = new MessageReader(true);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    upstream.pipe(client);
    client.on('data', (chunk: Buffer) => {
      // A simple query, or the execution of a prepared one.
      for (const { type } of messages.take(chunk)) {
        if (type === 'Q' || type === 'E') statements += 1;
        if (statements !== at || (type !== 'Q' && type !== 'E')) continue;
        client.destroy();
        upstream.destroy();
        return;
      }
      upstream.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    statements: () => statements,
    urlOf(of) {
      const { user, password, database: name } = new Client({ connectionString: of });
      return `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
    },
  };
}

/** Starts what `start` starts with a connection that ends at one statement; answers how many were sent until it had started. */
async function startCut(
  role: string,
  at: number,
  start: (env: NodeJS.ProcessEnv) => Promise<{ stop(): Promise<void> }>,
): Promise<number> {
  const { DATABASE_URL = '', SIGNER_DATABASE_URL = '', ORGWALLET_DATA_DIR = '' } = settings;
  const { server, urlOf, statements } = await cutting(DATABASE_URL, at);
  try {
    const running = await start({
      ...settings,
      DATABASE_URL: urlOf(DATABASE_URL),
      SIGNER_DATABASE_URL: urlOf(SIGNER_DATABASE_URL),
      ORGWALLET_ROLES: role,
    });
    const sent = statements();
    await running.stop();
    return sent;
  } catch (error) {
    throw new Error(`${role} did not start without statement ${at} (${ORGWALLET_DATA_DIR})`, {
      cause: error,
    });
  } finally {
    server.close();
  }
}

const hosted = (env: NodeJS.ProcessEnv) => startHosted(env, join(temporaryDir(), 'log'));

/** Starts a role once for each statement, or for the first, the last and one between. */
async function startEachCut(role: string): Promise<void> {
  const all = await startCut(role, 0, hosted);
  const places = DEEP ? Array.from({ length: all }, (_, i) => i + 1) : [1, 2 + random(all - 2), all];
  for (const at of places) await startCut(role, at, hosted);
}

it(
  'a process goes on where Postgres ends the connection in place of its first statement',
  async () => {
    expect(await startCut('api', 1, (env) => startServicePart(env, () => true))).toBeGreaterThan(1);
  },
  LIMIT_MS,
);

it.each(['api', 'signer'])(
  'a start of %s goes on where Postgres ends a connection in place of a statement',
  startEachCut,
  LIMIT_MS,
);

itDeep.each(['worker', 'chain'])(
  'a start of %s goes on where Postgres ends a connection in place of a statement',
  startEachCut,
  LIMIT_MS,
);
