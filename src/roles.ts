import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { createDeploymentChainActivities } from '../activities/deployments/chain';
import { resendLostDeployments } from '../activities/deployments/resendLost';
import { createLifecycleActivities } from '../activities/lifecycle';
import { createReconcilerActivities } from '../activities/reconciler/reconciler';
import { createRelayerActivities } from '../activities/relayer/chain';
import { createRelayerContext, createRelayerReads, type RelayerReads } from '../activities/relayer/context';
import { createTransactionChainActivities } from '../activities/transactions/chain';
import { createTransactionLocalActivities } from '../activities/transactions/local';
import { observeActivities } from './activityLog';
import { signerEndpoints } from './chain/contractSignatures';
import type { Keystore } from './chain/keys';
import { createIdentifyVoter } from './chain/voter';
import { createReadWalletCode } from './chain/walletCode';
import type { Clients } from './clients';
import type { Config, NetworkConfig } from './config';
import { hasAuthorizations } from './db/authorizations';
import type { Db } from './db/database';
import { recordFreeze } from './db/freezes';
import { readInstallationId } from './db/installation';
import { signerLease } from './db/signerLease';
import { watchExecutions } from './executionTimes';
import { failpoint, withFailpoints } from './failpoints';
import { createLastingFailure, type LastingFailure } from './lastingFailure';
import type { Lifetime } from './lifetime';
import type { Logger } from './logging';
import { watchRelayers } from './relayers';
import { createSignerActivities } from './signer/activities';
import { createSignerContext, type SignerContext } from './signer/context';
import { createDeploymentSignerActivities } from './signer/deployment';
import { takeRequests } from './signer/journal/freezeRequests';
import { openJournalOf } from './signer/journal/installationJournal';
import type { Journal } from './signer/journal/journal';
import { createSteadyTime, type SteadyTime } from './signer/journal/steadyTime';
import { createOrOpenKeystore, lastBackup, readPassphrase } from './signer/keys/keystore';
import { createProposalSignerActivities } from './signer/proposalActivities';
import { type KeptComparison, keepCompared } from './signer/recovery/keepCompared';
import { registerRelayers } from './signer/registerRelayers';
import { createTransactionSignerActivities } from './signer/transaction/activities';
import { readOutcomes } from './signer/transaction/readOutcomes';
import { refreshApproval } from './temporal/approvals';
import { registerSearchAttributes } from './temporal/connection';
import { networkQueue } from './temporal/ids';
import { keepReconciler } from './temporal/schedule';
import { WaitingActivities } from './temporal/waitingActivities';
import { withTimeLimit } from './timeLimit';
import { type WorkerSpec, workflowSource } from './workers';

const PENDING_POLL_MS = 250;
const STUCK_AFTER_MS = 30_000;
const LOST_BLOCKS_POLL_MS = 15_000;
const OUTCOMES_POLL_MS = 15_000;
const SEARCH_ATTRIBUTE_RETRY_MS = 2_000;
const SEARCH_ATTRIBUTE_WAIT_MS = 5_000;

/** Registers the search attributes as soon as Temporal is available; workflows need them to run. */
async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  logger: Logger,
  stopped: () => boolean,
): Promise<void> {
  for (let warned = false; !stopped(); warned = true) {
    try {
      await connection.withDeadline(Date.now() + 5_000, () =>
        registerSearchAttributes(connection, namespace),
      );
      return;
    } catch (error) {
      if (!warned) logger.warn({ err: error }, 'search attributes cannot be registered yet; retrying');
      await sleep(SEARCH_ATTRIBUTE_RETRY_MS);
    }
  }
}

/** The failures of something on each network. */
function failuresOf(
  logger: Logger,
  networks: readonly NetworkConfig[],
  what: string,
): (networkId: number) => LastingFailure {
  const failures = new Map(
    networks.map(({ id }) => [id, createLastingFailure(logger, what, { fields: { networkId: id } })]),
  );
  return (networkId) => failures.get(networkId) ?? createLastingFailure(logger, what);
}

/** Polls every network for lost blocks, and sends their transactions again. Returns the function that stops it. */
function keepResending(
  config: Config,
  resendLost: (networkId: number) => Promise<number>,
  logger: Logger,
): () => Promise<void> {
  const failure = failuresOf(logger, config.networks, 'the network cannot be checked for lost blocks');
  return keepPolling(config.networks, LOST_BLOCKS_POLL_MS, async ({ id: networkId }) => {
    try {
      const count = await resendLost(networkId);
      failure(networkId).succeeded();
      if (count > 0)
        logger.warn({ networkId, count }, 'the network has lost blocks; transactions sent again');
    } catch (error) {
      failure(networkId).failed(error);
    }
  });
}

/**
 * Polls each network now and every `everyMs`, unless its last poll still runs. `poll` never rejects. Returns the function
 * that stops it, and waits for polls that run.
 */
function keepPolling(
  networks: readonly NetworkConfig[],
  everyMs: number,
  poll: (network: NetworkConfig) => Promise<void>,
): () => Promise<void> {
  const stops = networks.map((network) => {
    let polling: Promise<void> | undefined;
    const pollOnce = () => {
      polling ??= poll(network).finally(() => {
        polling = undefined;
      });
    };
    pollOnce();
    const timer = setInterval(pollOnce, everyMs);
    return async () => {
      clearInterval(timer);
      await polling;
    };
  });
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** Reads what became of what is authorized, soon after it is in a block. */
function keepReadingOutcomes(signing: SignerContext): () => Promise<void> {
  const { logger, networks } = signing;
  const failure = failuresOf(logger, networks, 'outcomes cannot be read');
  return keepPolling(networks, OUTCOMES_POLL_MS, (network) =>
    readOutcomes(signing, network).then(failure(network.id).succeeded, failure(network.id).failed),
  );
}

/**
 * Workflows stay with the build that began their history. The activities of chain worker and signer have queues of their
 * own, which every build serves.
 */
function buildOptions({ build }: Config['temporal']): WorkerSpec['options'] {
  if (!build) return {};
  return {
    workerDeploymentOptions: {
      version: build,
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/** The worker of workflows, their local activities and the reconciler, whose schedule it maintains. */
async function workflowWorker(
  clients: Clients,
  reads: RelayerReads,
  lifetime: Lifetime,
): Promise<WorkerSpec> {
  const { config, logger, metrics, db, chains, connection, sender } = clients;
  const { identifyVoter, readToken, signerChain } = clients;
  const { production, networks, maxGas, proposalLifetimeMs, maxOpenPerKey } = config;
  const { client, queues } = sender;
  // A start does not wait for an unavailable Temporal: requests fail until it is back.
  const { namespace } = config.temporal;
  await withTimeLimit(
    ensureSearchAttributes(connection, namespace, logger, lifetime.stopped),
    SEARCH_ATTRIBUTE_WAIT_MS,
  );
  const executions = watchExecutions({ db, metrics, logger });
  lifetime.onStop('the watch of executions', () => executions.stop());
  lifetime.onStop(
    'the schedule of the reconciler',
    keepReconciler({ client, connection, queues, everyMs: config.reconcileEveryMs, logger }),
  );
  const lifecycle = createLifecycleActivities({
    db,
    production,
    networks,
    identifyVoter,
    readToken,
    readWalletCode: createReadWalletCode(signerChain),
    refresh: (approval) => refreshApproval(sender, approval),
    proposalLifetimeMs,
    maxOpenPerKey,
  });
  return {
    role: 'worker',
    taskQueue: queues.workflows,
    activities: withFailpoints('worker', {
      ...lifecycle,
      async finishTransaction(input: Parameters<typeof lifecycle.finishTransaction>[0]) {
        const state = await lifecycle.finishTransaction(input);
        if (state.executionStatus === 'completed') executions.note(input.id);
        return state;
      },
      ...createTransactionLocalActivities({ ...reads, db, chains, maxGas }),
      ...createReconcilerActivities({
        db,
        sender,
        build: config.temporal.build,
        networkIds: networks.map(({ id }) => id),
        everyMs: config.reconcileEveryMs,
        logger,
        countRepair: metrics.countRepair,
      }),
    }),
    options: { ...workflowSource(), ...buildOptions(config.temporal) },
  };
}

/** A worker for each network: what one does not answer holds up no other. */
function networkWorkers(
  { config, sender }: Clients,
  role: 'chain' | 'signer',
  activities: object,
): WorkerSpec[] {
  return config.networks.map(({ id }) => ({
    role,
    taskQueue: networkQueue(sender.queues[role], id),
    activities,
  }));
}

/** The workers that read chains and send signed transactions; they watch relayers and lost blocks. */
function chainWorkers(clients: Clients, reads: RelayerReads, lifetime: Lifetime): WorkerSpec[] {
  const { config, logger, metrics, db, chains, sender } = clients;
  const observed = observeActivities(logger);
  const waiting = new WaitingActivities(sender.client, (info, args, run) =>
    observed(info, args, async () => {
      const result = await run();
      failpoint(`chain.${info.activityType}:after`);
      return result;
    }),
  );
  lifetime.onStop('waiting activities', () => waiting.stop());
  const relaying = createRelayerContext(
    {
      db,
      chains,
      pollMs: PENDING_POLL_MS,
      stuckAfterMs: STUCK_AFTER_MS,
      withoutSlot: waiting.withoutSlot,
    },
    reads,
  );
  lifetime.onStop(
    'the watch of lost blocks',
    keepResending(config, (networkId) => resendLostDeployments(relaying, networkId, logger), logger),
  );
  lifetime.onStop('the watch of relayers', watchRelayers({ db, chains, logger, metrics }));
  const activities = withFailpoints('chain', {
    ...createRelayerActivities(relaying),
    ...createDeploymentChainActivities(relaying),
    ...createTransactionChainActivities({ ...relaying, maxGas: config.maxGas }),
  });
  return networkWorkers(clients, 'chain', activities);
}

async function openKeystore({ keystore, production }: Config, logger: Logger): Promise<Keystore> {
  const opened = await createOrOpenKeystore({ file: keystore.file, passphrase: readPassphrase(keystore) });
  if (production && lastBackup(keystore.file) === null) {
    logger.warn(
      'the keystore has no backup: a lost keystore is lost money. Run `./orgwallet keystore backup`',
    );
  }
  return opened;
}

/** How long a start waits for the signer before it to end: it may be replaced by this one just now. */
const JOURNAL_WAIT_MS = 60_000;
const REQUESTS_POLL_MS = 250;

/** The journal of this signer, which no other one writes meanwhile: without its lease the process ends. */
async function openSignerJournal(
  { config: { journalFile: file }, logger }: Clients,
  db: Db,
  { lifetime, steady, onBehind }: { lifetime: Lifetime; steady: SteadyTime; onBehind: () => void },
): Promise<Journal> {
  const of = { installationId: await readInstallationId(db), hasAuthorizations: await hasAuthorizations(db) };
  return openJournalOf(of, {
    file,
    leaseRow: signerLease(db),
    ownTime: steady.now,
    waitMs: JOURNAL_WAIT_MS,
    onWaiting: (holder) => logger.warn({ file }, `waiting for the journal: ${holder} holds it`),
    onLost: lifetime.fail,
    // After a crash, of lines that nothing was signed for; or the database was rolled back: what it lacks shows which.
    onDatabaseBehind: ({ lines }) => {
      logger.warn({ file, lines }, 'the database knows fewer lines of the journal than there are');
      onBehind();
    },
    onTorn: (bytes) =>
      logger.warn({ file, bytes }, 'the last line of the journal was torn by a crash and is cut off'),
  });
}

/** Takes requests to freeze up as they come. Returns the function that stops it. */
function keepTakingRequests(journal: Journal, db: Db, logger: Logger): () => Promise<void> {
  const take = async () => {
    try {
      await takeRequests(journal, async (entry) => {
        logger.warn({ organizationId: entry.organizationId }, `${entry.type}: recorded in the journal`);
        await recordFreeze(db, entry);
      });
    } catch (error) {
      logger.error({ err: error }, 'a request to freeze could not be recorded; retrying');
    }
  };
  let taking = take();
  const timer = setInterval(() => {
    taking = taking.then(take);
  }, REQUESTS_POLL_MS);
  return async () => {
    clearInterval(timer);
    await taking;
  };
}

/** The workers that hold the keys, with a database login of their own. */
async function signerWorkers(clients: Clients, db: Db, lifetime: Lifetime): Promise<WorkerSpec[]> {
  const { config, logger, metrics, signerChain, sender } = clients;
  const keystore = await openKeystore(config, logger);
  const steady = createSteadyTime();
  let isBehind = false;
  let comparison: KeptComparison | undefined;
  const onBehind = () => {
    isBehind = true;
    comparison?.again();
  };
  const journal = await openSignerJournal(clients, db, { lifetime, steady, onBehind });
  lifetime.onStop('the journal', () => journal.close());
  metrics.watchJournal(config.journalFile);
  metrics.watchKeystoreBackup(() => Date.parse(lastBackup(config.keystore.file) ?? '') || null);
  const kept = keepCompared({ db, journal, logger });
  comparison = kept;
  if (isBehind) kept.again();
  lifetime.onStop('the comparison with the journal', () => kept.stop());
  lifetime.onStop('requests to freeze', keepTakingRequests(journal, db, logger));
  const { production, networks, maxGas, gasBudgetPerHour } = config;
  const { countRefusal, countUnknownExecution } = metrics;
  const identifyVoter = createIdentifyVoter(signerEndpoints(signerChain.network));
  const signing = createSignerContext({
    ...{ db, production, keystore, journal, networks, identifyVoter, maxGas, gasBudgetPerHour },
    ...{ logger, countRefusal, countUnknownExecution, steady },
  });
  await registerRelayers(signing);
  lifetime.onStop('the reading of outcomes', keepReadingOutcomes(signing));
  const activities = withFailpoints('signer', {
    ...createSignerActivities(signing),
    ...createProposalSignerActivities(signing),
    ...createDeploymentSignerActivities(signing),
    ...createTransactionSignerActivities(signing),
  });
  return [
    { role: 'signer', taskQueue: sender.queues.signer, activities },
    ...networkWorkers(clients, 'signer', activities),
  ];
}

/** The workers of the roles that this process runs, ready to be started. */
export async function workersOf(clients: Clients, lifetime: Lifetime): Promise<WorkerSpec[]> {
  const { config, signerDb } = clients;
  const { roles } = config;
  const reads = createRelayerReads(PENDING_POLL_MS);
  return [
    ...(roles.includes('worker') ? [await workflowWorker(clients, reads, lifetime)] : []),
    ...(roles.includes('chain') ? chainWorkers(clients, reads, lifetime) : []),
    ...(signerDb ? await signerWorkers(clients, signerDb, lifetime) : []),
  ];
}
