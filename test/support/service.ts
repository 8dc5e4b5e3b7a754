import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { signerEndpoints } from '../../src/chain/contractSignatures';
import type { Keystore } from '../../src/chain/keys';
import { encodeSignature } from '../../src/chain/signatures';
import { createIdentifyVoter } from '../../src/chain/voter';
import { type Config, loadConfig } from '../../src/config';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { createDatabase, type Db } from '../../src/db/database';
import { OPERATOR } from '../../src/domain/actor';
import { applyEdits, type Edit, type ResourceChange } from '../../src/domain/governance';
import { projectRoot } from '../../src/projectRoot';
import { createOrOpenKeystore, openKeystore } from '../../src/signer/keys/keystore';
import { type Founder, foundOrganization } from '../../tools/dev/foundOrganization';
import { lastLogLines, type Part, startPart, untilReady } from '../../tools/dev/parts';
import { checkConformance } from './conformance';
import { writeDecided } from './directDecisions';
import { type Answer, type ClientOptions, HttpClient } from './http';
import { startHosted } from './serviceHost';
import { isExpected, recordService } from './sharedServices';
import {
  createTestDatabase,
  endpointOf,
  freePorts,
  fundOnLocalChain,
  sharedStack,
  type TestDatabase,
  temporaryDir,
} from './stack';
import { type StoredState, storedState } from './storedState';
import { until } from './until';

/** Starting takes some seconds; on a busy machine many. */
const START_LIMIT_MS = 120_000;
/** As docs/monitoring.md says. */
const STOP_LIMIT_MS = 70_000;

/** A member with the key of its wallet. */
export interface TestMember {
  readonly id: string;
  readonly name: string;
  readonly type: 'user' | 'api';
  readonly wallet: PrivateKeyAccount;
  readonly privateKey: Hex;
}

/** An organization to test with: admins Alice, Bob and Carol, the admin bot, and members Dave and the other bot. */
export interface TestOrganization {
  readonly id: string;
  readonly adminsId: string;
  readonly alice: TestMember;
  readonly bob: TestMember;
  readonly carol: TestMember;
  readonly bot: TestMember;
  readonly dave: TestMember;
  readonly otherBot: TestMember;
  readonly all: readonly TestMember[];
  /** Key of the admin bot. */
  readonly adminKey: string;
  readonly adminKeyId: string;
  /** Key of the bot that is not an admin. */
  readonly readKey: string;
  /** Decides directly, as if its admins had. */
  decide(edits: readonly Edit[]): Promise<void>;
  /** Everything that is stored for it: two equal answers say that nothing has changed in between. */
  stored(): Promise<StoredState>;
}

/** Where a service runs: the shared stack unless a test brings its own parts. */
export interface ServiceOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Settings with the logins to its database, such as those of another service. */
  readonly database?: NodeJS.ProcessEnv;
  /** False: does not wait until every part answers. */
  readonly ready?: false;
}

/** A running service with a client, a login that owns the database, and what tests need to act. */
export interface TestService {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly http: HttpClient;
  readonly db: Db;
  createOrganization(threshold?: number): Promise<TestOrganization>;
  /** Founds an organization with members of your own. */
  found(name: string, threshold: number, members: readonly Founder[]): ReturnType<typeof foundOrganization>;
  /** The keys of its signer. */
  keystore(): Promise<Keystore>;
  stop(): Promise<void>;
}

/** A service in a process of its own. */
export interface SeparateService extends TestService {
  readonly part: Part;
}

const members = [
  ['alice', 'Alice', 'user', true],
  ['bob', 'Bob', 'user', true],
  ['carol', 'Carol', 'user', true],
  ['bot', 'Admin Bot', 'api', true],
  ['dave', 'Dave', 'user', false],
  ['otherBot', 'Other Bot', 'api', false],
] as const;

let anyKeystore: Promise<Keystore> | undefined;

/** The keystore of tests that have no signer: organizations need one. */
export function testKeystore(): Promise<Keystore> {
  anyKeystore ??= makeKeystore(temporaryDir(), PASSPHRASE);
  return anyKeystore;
}

let directDecisions = 0;

/**
 * Decides directly, as if the admins had: in the sealed state and in the tables, without a proposal. `db` is the login
 * that owns the tables.
 */
export async function decideDirectly(
  db: Db,
  keystore: Pick<Keystore, 'sealKey'>,
  organizationId: string,
  edits: readonly Edit[],
): Promise<void> {
  await db.transaction((tx) =>
    writeDecided(tx, keystore, organizationId, (state) => {
      const decided = applyEdits(state, edits);
      if (!decided.ok) throw new Error(decided.refusal.message);
      // Past the sequence of any seal, so that what was signed before is seen to be outdated.
      directDecisions += 1;
      const revision = 1_000_000 + directDecisions;
      return decided.value.changes.map(
        (change) => ({ ...change, after: change.after && { ...change.after, revision } }) as ResourceChange,
      );
    }),
  );
}

/** Makes an organization directly in the database, as the operator's commands do. */
export async function makeOrganization(
  db: Db,
  { keystore, threshold = 2 }: { readonly keystore?: Keystore; readonly threshold?: number | undefined } = {},
): Promise<TestOrganization> {
  const keys = keystore ?? (await testKeystore());
  const drafts = members.map(([handle, name, type, admin]) => {
    const privateKey = generatePrivateKey();
    return { handle, name, type, admin, privateKey, wallet: privateKeyToAccount(privateKey) };
  });
  const { organizationId, memberIds, adminsId } = await foundOrganization(
    { db, signerDb: db, keystore: keys },
    {
      name: 'Test Organization',
      threshold,
      members: drafts.map(({ name, type, admin, wallet }) => ({ name, type, admin, wallet })),
    },
  );
  const all = drafts.map(({ name, type, wallet, privateKey }, index) => ({
    id: memberIds[index] ?? '',
    name,
    type,
    wallet,
    privateKey,
  }));
  const byHandle = Object.fromEntries(drafts.map(({ handle }, index) => [handle, all[index]])) as Record<
    (typeof members)[number][0],
    TestMember
  >;
  const issue = (member: TestMember) =>
    db.transaction((tx) => issueApiKey(tx, { organizationId, memberIds: [member.id], actor: OPERATOR }));
  const adminKey = await issue(byHandle.bot);
  const readKey = await issue(byHandle.otherBot);
  return {
    id: organizationId,
    adminsId,
    ...byHandle,
    all,
    adminKey: adminKey.key,
    adminKeyId: adminKey.id,
    readKey: readKey.key,
    decide: (edits) => decideDirectly(db, keys, organizationId, edits),
    stored: () => storedState(db, organizationId),
  };
}

const PASSPHRASE = 'correct horse battery staple';

/** Makes a keystore in a folder, with as little work against guessing as a keystore may have: it is opened often. */
export async function makeKeystore(dir: string, passphrase: string): Promise<Keystore> {
  return createOrOpenKeystore({ file: join(dir, 'keystore.json'), passphrase, cost: 2 ** 14 });
}

/** The settings of the three logins to a database. */
export function databaseSettings({ url, serviceUrl, signerUrl }: TestDatabase): NodeJS.ProcessEnv {
  return { DATABASE_URL: serviceUrl, SIGNER_DATABASE_URL: signerUrl, MIGRATION_DATABASE_URL: url };
}

/** The login that owns the database of these settings. */
export function connectAsOwner(env: NodeJS.ProcessEnv, poolMax = 2): Db {
  return createDatabase(env.MIGRATION_DATABASE_URL ?? '', { poolMax });
}

/** The settings of a service of its own: its database, data folder, ports and task queue. */
export async function serviceSettings(options: ServiceOptions = {}): Promise<NodeJS.ProcessEnv> {
  const stack = sharedStack();
  const dir = temporaryDir();
  const database = options.database ?? databaseSettings(await createTestDatabase());
  const { DATABASE_URL, SIGNER_DATABASE_URL, MIGRATION_DATABASE_URL } = database;
  const [httpsPort, httpPort, opsPort] = await freePorts(3);
  cpSync(stack.tlsDir, join(dir, 'tls'), { recursive: true });
  await makeKeystore(dir, PASSPHRASE);
  return {
    ORGWALLET_DATA_DIR: dir,
    DATABASE_URL,
    SIGNER_DATABASE_URL,
    MIGRATION_DATABASE_URL,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_TASK_QUEUE: `test-${dir.slice(-6)}`,
    NETWORKS_FILE: stack.networksFile,
    TOKEN_LIST_FILE: stack.tokenListFile,
    KEYSTORE_PASSPHRASE: PASSPHRASE,
    HTTPS_PORT: String(httpsPort),
    HTTP_PORT: String(httpPort),
    OPS_PORT: String(opsPort),
    // Whether or not one is built here, tests that need one bring it.
    CONSOLE_DIR: join(dir, 'console'),
    // Only tests of the reconciler have it run; what it leaves on the shared server is a schedule that sleeps.
    RECONCILE_EVERY: '1h',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'error',
    RATE_LIMIT_PER_SECOND: '5000',
    RATE_LIMIT_BURST: '10000',
    ...options.env,
  };
}

/** Funds the relayers of a service. */
export async function fundRelayers(db: Db, config: Config): Promise<void> {
  for (const { network_id, address } of await db('relayers')) {
    const network = config.networks.find(({ id }) => id === Number(network_id));
    if (network) await fundOnLocalChain(endpointOf(network), address);
  }
}

function logOf({
  ORGWALLET_ROLES: roles = 'service',
  OPS_PORT,
  ORGWALLET_DATA_DIR: dir = '',
}: NodeJS.ProcessEnv) {
  return join(dir, `${roles}-${OPS_PORT}.log`);
}

/** What tests do with a service that runs under these settings. Every answer that it gives is checked. */
export function connectTo(
  env: NodeJS.ProcessEnv,
  more: Pick<ClientOptions, 'onUnavailable'> = {},
): TestService {
  const config = loadConfig(env);
  const db = connectAsOwner(env, 4);
  const ca = readFileSync(config.tls.certFile, 'utf8');
  const http = new HttpClient(config.httpsPort, ca, { listener: checkConformance, ...more });
  const network = config.networks.find(({ id }) => id === config.signerNetworkId);
  if (!network) throw new Error('there is no network for contract wallets');
  let opened: Promise<Keystore> | undefined;
  const keystore = () => {
    opened ??= openKeystore({ file: config.keystore.file, passphrase: PASSPHRASE });
    return opened;
  };
  return {
    config,
    env,
    http,
    db,
    keystore,
    createOrganization: async (threshold) => makeOrganization(db, { keystore: await keystore(), threshold }),
    found: async (name, threshold, members) =>
      foundOrganization(
        {
          db,
          signerDb: db,
          keystore: await keystore(),
          identifyVoter: createIdentifyVoter(signerEndpoints(network)),
        },
        { name, threshold, members },
      ),
    async stop() {
      http.close();
      await db.destroy();
    },
  };
}

/** The parts that a running service reports as unavailable: all that it knows of, or those that it needs. */
export async function unavailableParts(
  { OPS_PORT }: NodeJS.ProcessEnv,
  path: '/statusz' | '/readyz' = '/statusz',
): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${OPS_PORT}${path}`);
  const { unavailable = [] } = (await answer.json()) as { unavailable?: string[] };
  return unavailable;
}

/** Throws while a part is unavailable that must be there. */
async function assertReady(
  env: NodeJS.ProcessEnv,
  mayBeUnavailable: (part: string) => boolean,
): Promise<true> {
  const missing = (await unavailableParts(env, '/readyz')).filter((name) => !mayBeUnavailable(name));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} unavailable`);
  return true;
}

/**
 * Starts a service, or the roles of one that `env` names, as in production, and waits until every part is ready
 * except those of `mayBeUnavailable`. `root` is the folder of the build.
 */
export async function startServicePart(
  env: NodeJS.ProcessEnv,
  mayBeUnavailable: (part: string) => boolean = () => false,
  root = projectRoot(),
): Promise<Part> {
  const part = startPart({
    name: env.ORGWALLET_ROLES ?? 'service',
    command: process.execPath,
    args: [join(root, 'dist', 'src', 'main.js')],
    env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env },
    logFile: logOf(env),
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
  });
  await untilReady(part, START_LIMIT_MS, () => assertReady(env, mayBeUnavailable));
  return part;
}

async function connectFor(env: NodeJS.ProcessEnv, running: { stop(): Promise<void> }): Promise<TestService> {
  const connected = connectTo(env);
  await fundRelayers(connected.db, connected.config);
  return {
    ...connected,
    async stop() {
      await connected.stop();
      await running.stop();
    },
  };
}

/** Starts a service for a test file: API, workers and signer, in the process of all services of this jest worker. */
export async function startTestService(options: ServiceOptions = {}): Promise<TestService> {
  const env = await serviceSettings(options);
  const hosted = await startHosted(env, logOf(env));
  const what = `the service is ready (${logOf(env)})`;
  await until(what, () => assertReady(env, () => options.ready === false), START_LIMIT_MS);
  return connectFor(env, hosted);
}

/** Starts a service for a test file in a process of its own, as in production: to end it, or to have several. */
export async function startSeparateService(options: ServiceOptions = {}): Promise<SeparateService> {
  const env = await serviceSettings(options);
  const part = await startServicePart(env, () => options.ready === false);
  return { ...(await connectFor(env, part)), part };
}

/** Connects to the service of a name, which the first that asks for it starts. It ends with the run, or with that one's jest worker. */
async function connectToShared(name: string, env: NodeJS.ProcessEnv = {}): Promise<TestService> {
  const { dir } = sharedStack();
  const settingsFile = join(dir, `service-${name}.json`);
  if (isFirst(`${settingsFile}.lock`)) {
    const settings = await serviceSettings({ env });
    const part = await startServicePart(settings);
    recordService(dir, name, part.pid);
    part.exited.then(({ code, signal }) => {
      if (!isExpected(dir, name)) return;
      const log = lastLogLines(part.logFile);
      process.stderr.write(
        `service ${name} ended during the tests (${signal ?? `exit code ${code}`})\n${log}\n`,
      );
    });
    writeFileSync(`${settingsFile}.new`, JSON.stringify(settings), { mode: 0o600 });
    renameSync(`${settingsFile}.new`, settingsFile);
  }
  await until(`service ${name} has started`, async () => existsSync(settingsFile), START_LIMIT_MS);
  const settings: NodeJS.ProcessEnv = JSON.parse(readFileSync(settingsFile, 'utf8'));
  // All its parts run, so a 500 comes from a machine that is too busy: it is reported, and sent again as a client does.
  const connected = connectTo(settings, {
    onUnavailable: ({ method, path }, { body }) =>
      process.stderr.write(`${method} ${path} is sent again after a 500: ${body?.message}\n`),
  });
  await fundRelayers(connected.db, connected.config);
  return connected;
}

/** Whether nobody has asked with that name before. */
function isFirst(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

/**
 * The one service of all test files that need nothing of their own. It outlives the file. Tests are apart by their
 * organizations.
 */
export function sharedService(): Promise<TestService> {
  return connectToShared('shared');
}

/** How long proposals live with `shortLivedService`: long enough to carry one out, short enough to see it expire. */
export const SHORT_LIFETIME_SECONDS = 18;

/** The one service of all test files that see proposals and transactions expire. */
export function shortLivedService(): Promise<TestService> {
  return connectToShared('short-lived', { PROPOSAL_LIFETIME: `${SHORT_LIFETIME_SECONDS}s` });
}

/** A member's signature over a payload, as the API takes it. */
export async function signPayload(member: TestMember, payload: string): Promise<Hex> {
  return encodeSignature(member.wallet.address, await member.wallet.signTypedData(JSON.parse(payload)));
}

/** What signs a proposal over HTTP. */
export async function signingAsk(
  key: string,
  // biome-ignore lint/suspicious/noExplicitAny: a proposal as it was answered
  proposal: any,
  member: TestMember,
  type: 'approve' | 'reject' = 'approve',
  more: { execute?: boolean; reason?: string } = {},
) {
  const payload = proposal.signingPayloads[`${type}Payload`];
  return {
    key,
    path: `/api/v1/${proposal.resourceType}/proposals/${proposal.id}/signatures`,
    body: { type, signature: await signPayload(member, payload), ...more },
  };
}

/** Signs a proposal over HTTP. */
export async function sign(http: HttpClient, ...of: Parameters<typeof signingAsk>): Promise<Answer> {
  return http.send(await signingAsk(...of));
}
