import { Client, type Connection } from '@temporalio/client';
import type { Address } from 'viem';
import { createChainActivities } from '../activities/chain';
import { createProposalActivities } from '../activities/proposals';
import { createReconcilerActivities } from '../activities/reconciler';
import { createSignerActivities } from '../activities/signer';
import { createTransactionChainActivities } from '../activities/transactionChain';
import { createTransactionSignerActivities } from '../activities/transactionSigner';
import { createTransactionActivities } from '../activities/transactions';
import type { ApiDependencies } from './api/dependencies';
import { createOperationsServer, type PartCheck } from './api/operations';
import { createApiServer } from './api/server';
import { knownTokens, readBalances } from './chain/balances';
import { type ChainClients, ChainUnavailable, createChainClients } from './chain/clients';
import { createOrOpenKeystore, lastBackup, readPassphrase } from './chain/keystore';
import { deriveAccount, refuseNetwork } from './chain/safe';
import { createFindSignedMessage } from './chain/signedMessage';
import { readTokenList } from './chain/tokenList';
import { createReadToken } from './chain/tokens';
import { createIdentifyVoter } from './chain/voter';
import { type Config, ConfigError } from './config';
import { createDatabase } from './db/database';
import { listPolicyTokens } from './db/policies';
import { listTransactionTokens } from './db/transactionTokens';
import { armFaultPoint, withFaultPoints } from './faults';
import type { Logger } from './logging';
import { createMetrics } from './metrics';
import { watchRelayers } from './relayers';
import { executeProposal, signProposal, startProposal, type WorkflowSender } from './temporal/client';
import { connectTemporal, LONGEST_RETRY_PAUSE_MS, registerSearchAttributes } from './temporal/connection';
import { taskQueues } from './temporal/ids';
import { refreshRecord } from './temporal/records';
import { keepReconciler } from './temporal/schedule';
import { executeTransaction, signTransaction, startTransaction } from './temporal/transactions';
import { installTemporalLogging, startWorkers, type WorkerSpec, workflowSource } from './workers';

/** The parts of the service that one process runs. */
export interface Service {
  readonly httpsPort: number | undefined;
  /** Finishes what is in flight and lets go of everything. */
  stop(): Promise<void>;
}

/** How long the API waits for a workflow's answer, in milliseconds. */
const WORKFLOW_DEADLINE_MS = 6_000;
const PENDING_POLL_MS = 250;
const STUCK_AFTER_MS = 30_000;
const LOST_BLOCKS_LOOK_MS = 15_000;
const SEARCH_ATTRIBUTE_RETRY_MS = 2_000;
const SEARCH_ATTRIBUTE_WAIT_MS = 5_000;

/** Registers the search attributes as soon as Temporal can be reached; workflows need them to run. */
async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  logger: Logger,
  stopped: () => boolean,
): Promise<void> {
  for (let told = false; !stopped(); ) {
    try {
      await connection.withDeadline(Date.now() + 5_000, () =>
        registerSearchAttributes(connection, namespace),
      );
      return;
    } catch (error) {
      if (!told) logger.warn({ err: error }, 'search attributes cannot be registered yet; trying again');
      told = true;
      await new Promise((resolve) => setTimeout(resolve, SEARCH_ATTRIBUTE_RETRY_MS));
    }
  }
}

/** Throws ConfigError for a network that is not what it should be; one that is away is looked at before it is used. */
async function demandNetworks(chains: ChainClients): Promise<void> {
  for (const chain of chains.values()) {
    try {
      const refusal = await refuseNetwork(chain);
      if (refusal) throw new ConfigError('NETWORKS_FILE', refusal);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
}

/** Looks at every network now and then for blocks that it has lost; returns what ends that. */
function keepResending(
  config: Config,
  resendLost: (networkId: number) => Promise<number>,
  logger: Logger,
): () => Promise<void> {
  let looking: Promise<unknown> = Promise.resolve();
  const look = () => {
    looking = Promise.all(
      config.networks.map(async ({ id }) => {
        try {
          const count = await resendLost(id);
          if (count > 0)
            logger.warn({ networkId: id, count }, 'the network has lost blocks; transactions sent again');
        } catch (error) {
          logger.debug({ err: error, networkId: id }, 'the network cannot be compared with the record now');
        }
      }),
    );
  };
  look();
  const timer = setInterval(look, LOST_BLOCKS_LOOK_MS);
  return async () => {
    clearInterval(timer);
    await looking;
  };
}

/** What a service has to let go of, in the order of use: no new requests, no new work, then the connections. */
interface Lifetime {
  readonly stops: (() => Promise<void>)[];
  stopped: boolean;
}

async function end(lifetime: Lifetime): Promise<void> {
  lifetime.stopped = true;
  for (const stop of lifetime.stops) await stop();
}

/**
 * Starts the parts that the configuration names: API, workflow worker, chain worker, signer. A start that fails lets
 * go of what it had begun.
 */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const lifetime: Lifetime = { stops: [], stopped: false };
  try {
    return { ...(await startParts(config, logger, lifetime)), stop: () => end(lifetime) };
  } catch (error) {
    await end(lifetime).catch((late) => logger.debug({ err: late }, 'a part of a failed start did not end'));
    throw error;
  }
}

async function startParts(
  config: Config,
  logger: Logger,
  lifetime: Lifetime,
): Promise<Omit<Service, 'stop'>> {
  armFaultPoint(config.testFaultPoint);
  const runs = (role: Config['roles'][number]) => config.roles.includes(role);
  const metrics = createMetrics();
  const db = createDatabase(config.databaseUrl, { role: 'orgwallet_service' });
  const connection = connectTemporal(config.temporal);
  const { stops } = lifetime;
  stops.push(
    async () => {
      // A call that waits to be tried again would wake up on a closed channel.
      await new Promise((resolve) => setTimeout(resolve, LONGEST_RETRY_PAUSE_MS + 50));
      await connection.close();
    },
    () => db.destroy(),
  );
  const client = new Client({ connection, namespace: config.temporal.namespace });
  const queues = taskQueues(config.temporal.taskQueue);
  const chains = createChainClients(config.networks);
  const signerChain = chains.get(config.signerNetworkId);
  if (!signerChain) throw new Error(`there is no network ${config.signerNetworkId} for contract signers`);
  const identifyVoter = createIdentifyVoter(signerChain);
  await demandNetworks(chains);
  const tokens = readTokenList(config.tokenListFile);
  const readToken = createReadToken(chains, tokens);

  const sender: WorkflowSender = { client, queues, deadlineMs: WORKFLOW_DEADLINE_MS };

  const specs: WorkerSpec[] = [];
  if (runs('worker')) {
    // A start with Temporal away does not wait for it; requests fail until it is back.
    await Promise.race([
      ensureSearchAttributes(connection, config.temporal.namespace, logger, () => lifetime.stopped),
      new Promise((resolve) => setTimeout(resolve, SEARCH_ATTRIBUTE_WAIT_MS).unref()),
    ]);
    specs.push({
      role: 'worker',
      taskQueue: queues.workflows,
      activities: withFaultPoints('worker', {
        ...createProposalActivities({
          db,
          networks: config.networks,
          identifyVoter,
          deriveAccount,
          readToken,
          refresh: (record) => refreshRecord(sender, record),
          proposalLifetimeMs: config.proposalLifetimeMs,
          maxOpenPerKey: config.maxOpenPerKey,
        }),
        ...createTransactionActivities({
          db,
          networks: config.networks,
          identifyVoter,
          readToken,
          proposalLifetimeMs: config.proposalLifetimeMs,
          maxOpenPerKey: config.maxOpenPerKey,
        }),
        ...createReconcilerActivities({
          db,
          sender,
          networkIds: config.networks.map(({ id }) => id),
          logger,
          countRepair: metrics.countRepair,
        }),
      }),
      options: workflowSource(),
    });
    stops.unshift(keepReconciler({ client, connection, queues, everyMs: config.reconcileEveryMs, logger }));
  }
  if (runs('chain')) {
    const relaying = { db, chains, pollMs: PENDING_POLL_MS, stuckAfterMs: STUCK_AFTER_MS };
    const { resendLost, ...activities } = createChainActivities(relaying);
    specs.push({
      role: 'chain',
      taskQueue: queues.chain,
      activities: withFaultPoints('chain', {
        ...activities,
        ...createTransactionChainActivities({ ...relaying, maxGas: config.maxGas }),
      }),
    });
    stops.unshift(keepResending(config, resendLost, logger));
    stops.unshift(watchRelayers({ db, chains, logger, setBalance: metrics.setRelayerBalance }));
  }
  if (runs('signer')) {
    const keystore = await createOrOpenKeystore({
      file: config.keystore.file,
      passphrase: readPassphrase(config.keystore),
    });
    if (config.production && lastBackup(config.keystore.file) === null) {
      logger.warn(
        'the keystore has no backup: a lost keystore is lost money. Run `npx orgwallet keystore backup`',
      );
    }
    const signerDb = createDatabase(config.signerDatabaseUrl, { role: 'orgwallet_signer', poolMax: 5 });
    metrics.watchPool('signer', signerDb);
    stops.unshift(() => signerDb.destroy());
    const signing = {
      db: signerDb,
      keystore,
      networks: config.networks,
      identifyVoter,
      maxGas: config.maxGas,
    };
    const { registerRelayers, ...activities } = createSignerActivities(signing);
    await registerRelayers();
    specs.push({
      role: 'signer',
      taskQueue: queues.signer,
      activities: withFaultPoints('signer', {
        ...activities,
        ...createTransactionSignerActivities(signing),
      }),
    });
  }
  if (specs.length > 0) installTemporalLogging(logger);
  const workers = startWorkers(config, specs, logger);
  metrics.watchPool('service', db);
  for (const { role, taskQueue } of specs) {
    metrics.watchWorker(
      taskQueue,
      () => workers.status().find((worker) => worker.role === role)?.state ?? 'STOPPED',
    );
  }
  stops.unshift(() => workers.stop());

  let httpsPort: number | undefined;
  if (runs('api')) {
    const dependencies: ApiDependencies = {
      config,
      db,
      logger,
      metrics,
      proposals: {
        start: (input) => startProposal(sender, input),
        sign: (input) => signProposal(sender, input),
        execute: (input) => executeProposal(sender, input),
      },
      transactions: {
        start: (input) => startTransaction(sender, input),
        sign: (input) => signTransaction(sender, input),
        execute: (input) => executeTransaction(sender, input),
      },
      planProposal: async ({ organizationId, kind, body }) => {
        const { networks } = config;
        const observed = await kind.observe?.({ networks, readToken }, body);
        if (observed && !observed.ok) return observed;
        return db.transaction((tx) =>
          kind.plan({ tx, organizationId, networks, deriveAccount }, body, observed?.value),
        );
      },
      identifyVoter,
      findSignedMessage: createFindSignedMessage(signerChain),
      readToken,
      readBalances: async (account) => {
        const named = await Promise.all([
          listTransactionTokens(db, account.id),
          // What a policy has read of its token is what its transactions are shown with.
          listPolicyTokens(db, account.organizationId, account.id),
        ]);
        const known = knownTokens(tokens, named.flat());
        const perNetwork = await Promise.all(
          account.networkIds.map(async (id) => {
            const chain = chains.get(id);
            return chain ? readBalances(chain.rpc, chain.network, account.address as Address, known) : [];
          }),
        );
        return perNetwork.flat();
      },
    };
    const api = createApiServer(dependencies);
    stops.unshift(() => api.stop());
    ({ httpsPort } = await api.start());
  }

  const parts: Record<string, PartCheck> = {
    database: async () => {
      await db.raw('SELECT 1');
    },
    temporal: async () => {
      await connection.withDeadline(Date.now() + 1_500, () => connection.workflowService.getSystemInfo({}));
    },
    ...Object.fromEntries(
      [...chains.values()].map(({ network, rpc }) => [
        `network:${network.id}`,
        async () => {
          await rpc.getBlockNumber();
        },
      ]),
    ),
    ...Object.fromEntries(
      specs.map(({ role }) => [
        `worker:${role}`,
        async () => {
          if (!workers.status().some((worker) => worker.role === role && worker.running)) {
            throw new Error('it does not poll');
          }
        },
      ]),
    ),
  };
  const operations = createOperationsServer({ ...config.operations, metrics, parts: () => parts });
  await operations.start();
  stops.unshift(() => operations.stop());

  return { httpsPort };
}
