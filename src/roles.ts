import { createChainActivities } from '../activities/chainActivities';
import { createDeliveryActivities } from '../activities/deliveries/deliveryActivities';
import { resendLostDeployments } from '../activities/deployments/resendLost';
import {
  createRelayerContext,
  createRelayerReads,
  POLL_MS,
  type RelayerReads,
  STUCK_AFTER_MS,
} from '../activities/relayer/relayerContext';
import { createWorkerActivities } from '../activities/worker';
import { observeActivities } from './activityLog';
import { createReadWalletCode } from './chain/walletCode';
import type { Clients } from './clients';
import type { Config } from './config';
import { readDeliverySeed } from './db/installation';
import { untilAvailable } from './db/untilAvailable';
import { createActiveDeliveries } from './delivery/active';
import { createDeliverySigner } from './delivery/signatures';
import { watchDeliveries } from './deliveryWatch';
import { watchExecutions } from './executionTimes';
import { failpoint, withFailpoints } from './failpoints';
import type { Lifetime } from './lifetime';
import { watchLostBlocks } from './lostBlocks';
import { createMailer, type Mailer } from './mail/mailer';
import { createScanners, watchMovements } from './movementWatch';
import { createOutboundSender } from './outbound/sender';
import { watchRelayers } from './relayerWatch';
import { signerWorkers } from './signer/workers';
import { refreshApproval } from './temporal/approvalMessages';
import { startBackfill } from './temporal/backfill';
import { ensureSearchAttributes } from './temporal/registeredAttributes';
import { keepReconciler } from './temporal/schedule';
import { WaitingActivities } from './temporal/waitingActivities';
import { withTimeLimit } from './timeLimit';
import { networkWorkers, type WorkerSpec } from './workers';
import { workflowSource } from './workflowSource';

const SEARCH_ATTRIBUTE_WAIT_MS = 5_000;

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
  const activities = createWorkerActivities({
    ...reads,
    ...{ db, chains, sender, logger, production, networks, maxGas, proposalLifetimeMs, maxOpenPerKey },
    ...{ identifyVoter, readToken, readWalletCode: createReadWalletCode(signerChain) },
    signerNetworkId: config.signerNetworkId,
    refresh: (approval) => refreshApproval(sender, approval),
    noteExecuted: (transactionId) => executions.note(transactionId),
    countRepair: metrics.countRepair,
    build: config.temporal.build,
    networkIds: networks.map(({ id }) => id),
    everyMs: config.reconcileEveryMs,
  });
  return {
    role: 'worker',
    taskQueue: queues.workflows,
    activities: withFailpoints('worker', activities),
    options: { ...workflowSource(), ...buildOptions(config.temporal) },
  };
}

/** What sends mail; null where nothing does. */
function mailerOf({ mail }: Config, lifetime: Lifetime): Mailer | null {
  if (!mail) return null;
  const mailer = createMailer(mail);
  lifetime.onStop('the connections to the mail server', async () => mailer.stop());
  return mailer;
}

/** Activities that begin at once; each holds a slot for a second at most, however long its receiver takes. */
const DELIVERY_SLOTS = 100;

/** The worker that sends events to their destinations; it watches what they lack. */
async function deliveryWorker(
  { config, logger, metrics, db, sender, tokens }: Clients,
  lifetime: Lifetime,
): Promise<WorkerSpec> {
  const active = createActiveDeliveries();
  const waiting = new WaitingActivities(sender.client, observeActivities(logger));
  const outbound = createOutboundSender({
    allowedRanges: config.webhookAllowedRanges,
    production: config.production,
  });
  lifetime.onStop('the connections to receivers', async () => outbound.stop());
  lifetime.onStop('deliveries', () => waiting.stop());
  lifetime.onStop('the watch of deliveries', watchDeliveries({ db, sender, active, logger, metrics }));
  const seed = await untilAvailable(() => readDeliverySeed(db), { signal: lifetime.ending });
  const signer = createDeliverySigner(seed);
  const { withoutSlot } = waiting;
  const countAttempt = metrics.countDelivery;
  return {
    role: 'worker',
    taskQueue: sender.queues.deliveries,
    activities: createDeliveryActivities({
      ...{ db, active, outbound, signer, countAttempt, withoutSlot },
      mailer: mailerOf(config, lifetime),
      origin: config.origins[0] ?? null,
      networks: config.networks,
      tokens,
    }),
    options: { maxConcurrentActivityTaskExecutions: DELIVERY_SLOTS },
  };
}

/** The workers that read chains and send signed transactions; they watch relayers, lost blocks and movements. */
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
      ...{ db, chains, pollMs: POLL_MS, stuckAfterMs: STUCK_AFTER_MS, withoutSlot: waiting.withoutSlot },
      signerNetworkId: config.signerNetworkId,
    },
    reads,
  );
  lifetime.onStop(
    'the watch of lost blocks',
    watchLostBlocks(
      config.networks,
      (networkId) => resendLostDeployments(relaying, networkId, logger),
      logger,
    ),
  );
  lifetime.onStop('the watch of relayers', watchRelayers({ db, chains, logger, metrics }));
  const scanners = createScanners(clients);
  const beginBackfill = (networkId: number) => startBackfill(sender, networkId);
  lifetime.onStop('the watch of movements', watchMovements({ ...clients, beginBackfill }, scanners));
  const activities = createChainActivities({ ...relaying, maxGas: config.maxGas, scanners });
  return networkWorkers(clients, 'chain', withFailpoints('chain', activities));
}

/** The workers of the roles that this process runs, ready to be started. */
export async function workersOf(clients: Clients, lifetime: Lifetime): Promise<WorkerSpec[]> {
  const { roles } = clients.config;
  const reads = createRelayerReads(POLL_MS);
  return [
    ...(roles.includes('worker')
      ? [await workflowWorker(clients, reads, lifetime), await deliveryWorker(clients, lifetime)]
      : []),
    ...(roles.includes('chain') ? chainWorkers(clients, reads, lifetime) : []),
    ...(roles.includes('signer') ? await signerWorkers(clients, lifetime) : []),
  ];
}
