import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiDependencies } from './api/dependencies';
import type { PageAddition } from './api/pageAddition';
import { createApiServer } from './api/server';
import { createApiDeliveries } from './apiDeliveries';
import { createFindSignedMessage } from './chain/signedMessage';
import { createReadBalances, createReadRecipientCode, createReadTotals, createSimulate } from './chainReads';
import type { Clients } from './clients';
import type { Config, Role } from './config';
import { PART_OF_ROLE } from './domain/lastSeen';
import { keepHeartbeats } from './heartbeats';
import { createReadParts, installationParts } from './installationParts';
import type { Lifetime } from './lifetime';
import type { Logger } from './logging';
import { readStatement } from './movements/statement';
import type { CheckedParts } from './parts';
import { createReadPrices } from './prices/prices';
import { type OtherParts, type RunningParts, type RunningProcess, startProcess } from './process';
import { workersOf } from './roles';
import { executeApproval, signApproval, startApproval, startApprovalAnew } from './temporal/approvalMessages';
import { startUpgrade, type Upgrade } from './upgrade';

/** The API waits 30 s for its requests, and a worker of an earlier build as long for its workflows. */
const API_STOP_LIMIT_MS = 35_000;
const MOVE_LIMIT_MS = 35_000;

/** The part of the workflow worker in an upgrade; undefined where there is none. */
function upgradeOf({ config, sender, logger }: Clients, lifetime: Lifetime): Upgrade | undefined {
  const { build } = config.temporal;
  if (!build || !config.roles.includes('worker')) return undefined;
  const upgrade = startUpgrade(sender, build, { logger, fail: lifetime.fail });
  lifetime.onStop('the watch of builds', () => upgrade.stop());
  // Its worker goes on meanwhile.
  lifetime.onStop('the move of workflows', () => upgrade.moveWorkflows(), MOVE_LIMIT_MS);
  return upgrade;
}

function apiDependencies(
  clients: Clients,
  lifetime: Lifetime,
  parts: CheckedParts,
  pageAddition: PageAddition | undefined,
): ApiDependencies {
  const { config, db, logger, metrics, tracer, sender, identifyVoter, walletEndpoints, readToken, tokens } =
    clients;
  return {
    config,
    db,
    logger,
    metrics,
    tracer,
    pageAddition,
    approvals: {
      start: (ref, request) =>
        startApproval(sender, ref, { ...request, lifetimeMs: config.proposalLifetimeMs }),
      startAnew: (ref, request) =>
        startApprovalAnew(sender, ref, { ...request, lifetimeMs: config.proposalLifetimeMs }),
      sign: (ref, vote, updateId) => signApproval(sender, ref, vote, updateId),
      execute: (ref, message, updateId) => executeApproval(sender, ref, message, updateId),
    },
    identifyVoter,
    findSignedMessage: createFindSignedMessage(walletEndpoints),
    readToken,
    tokens,
    readStatement: (account, period) => readStatement(clients, account, period),
    readParts: createReadParts(parts),
    readBalances: createReadBalances(clients),
    deliveries: createApiDeliveries(clients, lifetime),
    readTotals: createReadTotals(clients),
    readPrices: createReadPrices(config, { logger }),
    readRecipientCode: createReadRecipientCode(clients),
    simulate: createSimulate(clients),
  };
}

/** Notes which queues this process polls. The signer has its lease. */
function noteHeartbeats({ db, logger }: Clients, lifetime: Lifetime, { workers }: RunningParts): void {
  const own = () => workers.status().filter(({ role }) => role !== 'signer');
  if (own().length === 0) return;
  const polled = () => own().flatMap(({ running, taskQueue }) => (running ? [taskQueue] : []));
  lifetime.onStop('the heartbeats', keepHeartbeats({ db, polled, logger }));
}

/** Parts of the installation without the roles that this process has: it knows these itself. */
function partsOfOthers(parts: CheckedParts, roles: readonly Role[]): CheckedParts {
  const own = new Set(roles.map((role) => (role === 'api' ? role : PART_OF_ROLE[role])));
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !own.has(name)));
}

/** What every process checks alike: Temporal, and the networks. */
function shared(parts: CheckedParts): CheckedParts {
  const isShared = (name: string) => name === 'temporal' || name.startsWith('network:');
  return Object.fromEntries(Object.entries(parts).filter(([name]) => isShared(name)));
}

/** Starts the API, and the part of the workflow worker in an upgrade, in a process that has their roles. */
async function startOtherParts(
  clients: Clients,
  lifetime: Lifetime,
  running: RunningParts,
  pageAddition: PageAddition | undefined,
): Promise<OtherParts> {
  const { roles, shutdownDelayMs } = clients.config;
  noteHeartbeats(clients, lifetime, running);
  const all = installationParts(clients);
  const others = partsOfOthers(all, roles);
  const upgrade = upgradeOf(clients, lifetime);
  // The workers of the build before end once this one is ready.
  const build = upgrade && { build: { isRequired: true, check: async () => upgrade.assertPromoted() } };
  if (!roles.includes('api')) return { httpsPort: undefined, checked: { ...others, ...build } };
  const api = createApiServer(
    apiDependencies(clients, lifetime, { ...shared(running.checked), ...all }, pageAddition),
  );
  lifetime.onStop('the API', () => api.stop(), API_STOP_LIMIT_MS);
  const { httpsPort } = await api.start(lifetime.ending);
  // The others get no requests.
  lifetime.onStop('the delay', () => sleep(shutdownDelayMs), shutdownDelayMs + 1_000);
  const journal = { isRequired: true, check: () => api.assertOpen() };
  return { httpsPort, checked: { ...others, journal, ...build } };
}

/** What a start has besides its configuration. */
interface ServiceOptions {
  readonly pageAddition?: PageAddition;
  /** Where it is aborted during the start, the start throws its reason. */
  readonly ending?: AbortSignal;
}

/** Starts the roles that the configuration names: API, workflow worker, chain worker, and the signer where it is not alone. */
export function startService(
  config: Config,
  logger: Logger,
  { pageAddition, ending }: ServiceOptions = {},
): Promise<RunningProcess> {
  return startProcess(
    config,
    logger,
    {
      workersOf,
      startOtherParts: (clients, lifetime, running) =>
        startOtherParts(clients, lifetime, running, pageAddition),
    },
    ending,
  );
}
