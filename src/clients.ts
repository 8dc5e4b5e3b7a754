import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import {
  ask,
  type ChainClient,
  type ChainClients,
  ChainUnavailable,
  createChainClients,
} from './chain/clients';
import { earlyEndpoints, type WalletEndpoints } from './chain/contractSignatures';
import { refuseNetwork } from './chain/safe';
import { type ListedToken, readTokenList } from './chain/tokenList';
import { createReadToken } from './chain/tokens';
import { createIdentifyVoter } from './chain/voter';
import type { Config } from './config';
import { ConfigError } from './configError';
import { createDatabase, type Db, keepsStatements } from './db/database';
import { isUnavailable } from './db/databaseFailure';
import { readProduction } from './db/installation';
import { type LoginRole, readLoginRights, refuseLogin, refuseSession } from './db/logins';
import { refuseSchema, schemaState } from './db/schemaState';
import { START_RETRY_MS, START_WAIT_MS } from './db/untilAvailable';
import type { SharedSettings } from './domain/settingDifferences';
import type { Lifetime } from './lifetime';
import type { Logger } from './logging';
import type { Metrics } from './metrics';
import { sharedSettings } from './ownSettings';
import { serviceDatabaseUrl, signerDatabaseUrl } from './roleSettings';
import { isSignerAlone } from './signerApart';
import type { WorkflowSender } from './temporal/client';
import { closeTemporal, connectTemporal } from './temporal/connection';
import { taskQueues } from './temporal/ids';
import { conversion } from './temporal/payloadCodec';
import { tracedClient } from './temporal/tracedClient';
import type { Tracer } from './tracing';

/**
 * How long the API waits for a workflow's answer, in milliseconds. Temporal gives a task that a worker has lost, at its end,
 * to another one after 10 s: a request outlives that.
 */
const WORKFLOW_DEADLINE_MS = 12_000;

/** The clients that every role uses: database, Temporal and chains. */
export interface Clients {
  readonly config: Config;
  /** Those of its settings that the signer must have as well. */
  readonly settings: SharedSettings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** The login of the service; in a process that runs the signer alone, that of the signer. */
  readonly db: Db;
  /** The login of the signer, where the signer runs. */
  readonly signerDb: Db | undefined;
  readonly connection: Connection;
  readonly sender: WorkflowSender;
  readonly chains: ChainClients;
  /** The network of contract wallets. */
  readonly signerChain: ChainClient;
  /** What is asked about their signatures, for an early answer: the signer asks its own endpoints. */
  readonly walletEndpoints: WalletEndpoints;
  readonly identifyVoter: ReturnType<typeof createIdentifyVoter>;
  readonly tokens: readonly ListedToken[];
  readonly readToken: ReturnType<typeof createReadToken>;
}

/** Throws ChainUnavailable, which names no endpoint: a path may hold a key. */
export async function assertAnswers(chain: ChainClient): Promise<void> {
  await ask(chain, (rpc) => rpc.getBlockNumber());
}

/** Throws ConfigError for a network that differs from its configuration; an unavailable one is checked before use. */
async function assertNetworks(chains: ChainClients): Promise<void> {
  for (const chain of chains.values()) {
    try {
      const refusal = await refuseNetwork(chain);
      if (refusal) throw new ConfigError('NETWORKS_FILE', refusal);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
}

/**
 * The steps that a schema lacks for this code. Throws ConfigError for a login that can do more than its role, and for a schema
 * that another build has made.
 */
async function missingSteps(db: Db, setting: string, role: LoginRole): Promise<readonly string[]> {
  const refusal = refuseLogin(await readLoginRights(db, role), role);
  if (refusal) throw new ConfigError(setting, `${refusal.found}: ${refusal.todo}`);
  const lacking = keepsStatements(db) ? undefined : await refuseSession(db);
  if (lacking) throw new ConfigError('DATABASE_POOLER', lacking);
  const state = await schemaState(db);
  const changed = refuseSchema(state);
  if (changed) throw new ConfigError(setting, changed);
  return state.missing;
}

/**
 * Waits until Postgres answers and its schema is migrated. Throws ConfigError for a login that can do more than its role, for a
 * schema that is not migrated in time, and where only the settings or the database are of production.
 */
async function assertDatabase(
  db: Db,
  setting: string,
  role: LoginRole,
  {
    production,
    logger,
    ending,
  }: { readonly production: boolean; readonly logger: Logger; readonly ending: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + START_WAIT_MS;
  let warned = false;
  for (;;) {
    try {
      const missing = await missingSteps(db, setting, role);
      if (missing.length === 0) return await assertSameProduction(db, production);
      const found = `the schema lacks ${missing.join(', ')}`;
      if (performance.now() > deadline)
        throw new ConfigError(setting, `${found}: run \`./orgwallet db migrate\` first`);
      if (!warned) logger.warn(`${found}: waiting for \`./orgwallet db migrate\``);
      warned = true;
    } catch (error) {
      if (error instanceof ConfigError || !isUnavailable(error) || performance.now() > deadline) throw error;
    }
    await sleep(START_RETRY_MS, undefined, { signal: ending });
  }
}

/** Connections to Postgres of the signer's login. */
const SIGNER_POOL = 5;

/** Opens a pool for each login that the roles of this process need. Throws ConfigError where one is unfit. */
async function openDatabases(
  config: Config,
  logger: Logger,
  metrics: Metrics,
  lifetime: Lifetime,
): Promise<Pick<Clients, 'db' | 'signerDb'>> {
  const open = (name: string, url: string, poolMax: number) => {
    const pool = createDatabase(url, { poolMax, throughPooler });
    lifetime.onStop(`the connections to Postgres (${name})`, () => pool.destroy());
    metrics.watchPool(name, pool);
    return pool;
  };
  const { roles, databasePool, production, throughPooler } = config;
  const within = { production, logger, ending: lifetime.ending };
  const signerDb = roles.includes('signer')
    ? open('signer', signerDatabaseUrl(config), SIGNER_POOL)
    : undefined;
  if (signerDb) {
    await assertDatabase(signerDb, 'SIGNER_DATABASE_URL', 'orgwallet_signer', within);
    if (isSignerAlone(roles)) return { db: signerDb, signerDb };
  }
  const db = open('service', serviceDatabaseUrl(config), databasePool);
  await assertDatabase(db, 'DATABASE_URL', 'orgwallet_service', within);
  return { db, signerDb };
}

/** How many bad entries of a token list are logged. */
const SHOWN_ENTRIES = 10;

/** The tokens of the configured networks in the token list; bad entries are logged and counted. */
function listedTokens({
  config: { networks, tokenListFile },
  logger,
  metrics,
}: Pick<Clients, 'config' | 'logger' | 'metrics'>): readonly ListedToken[] {
  const { tokens, bad } = readTokenList(new Set(networks.map(({ id }) => id)), tokenListFile);
  metrics.setBadTokens(bad.length);
  if (bad.length > 0) {
    const entries = bad.slice(0, SHOWN_ENTRIES);
    logger.warn({ tokenListFile, bad: bad.length, entries }, 'entries of the token list are left out');
  }
  return tokens;
}

/** Connects the clients. Throws ConfigError for a network that differs from its configuration, or an unfit login. */
export async function connectClients(
  { config, logger, metrics, tracer }: Pick<Clients, 'config' | 'logger' | 'metrics' | 'tracer'>,
  lifetime: Lifetime,
): Promise<Clients> {
  const { db, signerDb } = await openDatabases(config, logger, metrics, lifetime);
  const connection = connectTemporal(config.temporal);
  lifetime.onStop('the connection to Temporal', () => closeTemporal(connection));
  const { namespace } = config.temporal;
  const client = new Client({
    connection,
    namespace,
    ...conversion(config.temporal),
    ...(tracer ? { interceptors: { workflow: [tracedClient()] } } : {}),
  });
  const queues = taskQueues(config.temporal.taskQueue);
  const chains = createChainClients(config.networks, metrics.countRpc);
  const signerChain = chains.get(config.signerNetworkId);
  if (!signerChain)
    throw new Error(`network ${config.signerNetworkId} of contract wallets is not configured`);
  await assertNetworks(chains);
  const walletEndpoints = earlyEndpoints(signerChain);
  const tokens = listedTokens({ config, logger, metrics });
  return {
    config,
    settings: sharedSettings(config),
    logger,
    metrics,
    tracer,
    db,
    signerDb,
    connection,
    sender: {
      client,
      queues,
      deadlineMs: WORKFLOW_DEADLINE_MS,
      isEncrypted: config.temporal.payloadKeysFile !== undefined,
    },
    chains,
    signerChain,
    walletEndpoints,
    identifyVoter: createIdentifyVoter(walletEndpoints),
    tokens,
    readToken: createReadToken(chains, tokens),
  };
}

/** Throws ConfigError where the settings and the database do not agree on whether this is production. */
async function assertSameProduction(db: Db, production: boolean): Promise<void> {
  const remembered = await readProduction(db);
  if (remembered === production) return;
  throw new ConfigError(
    'NODE_ENV',
    remembered
      ? 'is not production, and the database is one of production'
      : 'is production, and the database does not know it, so that no command would: run `./orgwallet db migrate --production` once',
  );
}
