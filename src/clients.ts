import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { type ChainClient, type ChainClients, ChainUnavailable, createChainClients } from './chain/clients';
import { refuseNetwork } from './chain/safe';
import { readTokenList } from './chain/tokenList';
import { createReadToken } from './chain/tokens';
import { createIdentifyVoter } from './chain/voter';
import { type Config, ConfigError } from './config';
import { createDatabase, type Db } from './db/database';
import type { Lifetime } from './lifetime';
import type { Logger } from './logging';
import type { Metrics } from './metrics';
import type { WorkflowSender } from './temporal/client';
import { connectTemporal, LONGEST_RETRY_PAUSE_MS } from './temporal/connection';
import { taskQueues } from './temporal/ids';

/** How long the API waits for a workflow's answer, in milliseconds. */
const WORKFLOW_DEADLINE_MS = 6_000;

/** The clients that every role uses: database, Temporal and chains. */
export interface Clients {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly db: Db;
  readonly connection: Connection;
  readonly sender: WorkflowSender;
  readonly chains: ChainClients;
  /** The chain on which signatures of contract wallets are verified. */
  readonly signerChain: ChainClient;
  readonly identifyVoter: ReturnType<typeof createIdentifyVoter>;
  readonly tokens: ReturnType<typeof readTokenList>;
  readonly readToken: ReturnType<typeof createReadToken>;
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

/** Connects the clients. Throws ConfigError for a network that differs from its configuration. */
export async function connectClients(
  config: Config,
  logger: Logger,
  metrics: Metrics,
  lifetime: Lifetime,
): Promise<Clients> {
  const db = createDatabase(config.databaseUrl, { role: 'orgwallet_service' });
  lifetime.onStop(() => db.destroy());
  metrics.watchPool('service', db);
  const connection = connectTemporal(config.temporal);
  lifetime.onStop(async () => {
    // A call that waits for its next attempt would resume on a closed channel.
    await sleep(LONGEST_RETRY_PAUSE_MS + 50);
    await connection.close();
  });
  const client = new Client({ connection, namespace: config.temporal.namespace });
  const queues = taskQueues(config.temporal.taskQueue);
  const chains = createChainClients(config.networks);
  const signerChain = chains.get(config.signerNetworkId);
  if (!signerChain)
    throw new Error(`network ${config.signerNetworkId} of contract signers is not configured`);
  await assertNetworks(chains);
  const tokens = readTokenList(config.tokenListFile);
  return {
    config,
    logger,
    metrics,
    db,
    connection,
    sender: { client, queues, deadlineMs: WORKFLOW_DEADLINE_MS },
    chains,
    signerChain,
    identifyVoter: createIdentifyVoter(signerChain),
    tokens,
    readToken: createReadToken(chains, tokens),
  };
}
