import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ObserveRpc } from './chain/clients';
import type { Role } from './config';
import type { Db } from './db/database';
import type { DestinationLag } from './db/destinations';
import type { ExecutionTimes } from './db/executionTimes';
import { createHealthMetrics, type HealthMetrics } from './healthMetrics';
import { readVersion } from './version';

/** The metrics of the service, in the Prometheus text format. */
export interface Metrics extends HealthMetrics {
  readonly registry: Registry;
  /** All of them as text, with those of other sources. */
  exposition(): Promise<string>;
  /** Adds metrics that something else collects; while it fails, they are left out. */
  addSource(read: () => Promise<string>): void;
  observeHttp(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Exports the connections of a pool under a name. */
  watchPool(name: string, db: Db): void;
  /** Exports whether a worker polls: 1 while `state()` is RUNNING. */
  watchWorker(taskQueue: string, state: () => string): void;
  /** Exports the native currency of a relayer, and for how many deployments it is enough. */
  setRelayerBalance(relayer: { networkId: number; address: string; wei: bigint; deployments: number }): void;
  /** Ends the export of one that is no longer in use. */
  removeRelayerBalance(relayer: { networkId: number; address: string }): void;
  /** Counts one repair of the reconciler. */
  countRepair(repair: string): void;
  /** Counts one refusal of the signer. */
  countRefusal(reason: string): void;
  /** An execution of an account that nobody here has authorized was found. */
  countUnknownExecution(): void;
  /** Counts one request to an endpoint of a network. */
  countRpc: ObserveRpc;
  /** Records how long the execution of a transaction took. */
  observeExecution(times: ExecutionTimes): void;
  /** Exports how many entries of the token list are left out. */
  setBadTokens(entries: number): void;
  /** Exports how the admins' Safes are, and how many accounts are taken over, as one signer has read it last. */
  watchUpkeep(read: UpkeepReading): void;
  /** Exports for how long the oldest execution has been undecided. */
  setOldestExecution(seconds: number): void;
  /** Exports how many destinations of events there are, and the age of the oldest event that one of them lacks. */
  setDeliveries(lags: readonly DestinationLag[]): void;
  /** Counts an attempt to send an event. */
  countDelivery(kind: string, outcome: 'taken' | 'failed'): void;
}

interface PoolCounts {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

function exportBuild(registry: Registry, roles: readonly Role[]): void {
  new Gauge({
    name: 'orgwallet_build_info',
    help: 'Always 1: the version and the revision that this process runs, and its roles.',
    labelNames: ['version', 'revision', 'roles'],
    registers: [registry],
  }).set({ ...readVersion(), roles: roles.join(',') }, 1);
}

/** Pools of connections, and workers. */
function processMetrics(registry: Registry): Pick<Metrics, 'watchPool' | 'watchWorker'> {
  const pools = new Map<string, PoolCounts>();
  new Gauge({
    name: 'orgwallet_database_pool_connections',
    help: 'Connections of a pool: used, free, and requests that wait for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, counts] of pools) {
        this.set({ pool, state: 'used' }, counts.numUsed());
        this.set({ pool, state: 'free' }, counts.numFree());
        this.set({ pool, state: 'waiting' }, counts.numPendingAcquires());
      }
    },
  });
  const workers = new Map<string, () => string>();
  new Gauge({
    name: 'orgwallet_worker_running',
    help: '1 while the worker of a task queue polls.',
    labelNames: ['task_queue'],
    registers: [registry],
    collect() {
      for (const [queue, state] of workers) this.set({ task_queue: queue }, state() === 'RUNNING' ? 1 : 0);
    },
  });
  return {
    watchPool(name, db) {
      pools.set(name, db.client.pool as PoolCounts);
    },
    watchWorker(taskQueue, state) {
      workers.set(taskQueue, state);
    },
  };
}

/** What relayers hold. */
function relayerMetrics(registry: Registry): Pick<Metrics, 'setRelayerBalance' | 'removeRelayerBalance'> {
  const relayers = new Gauge({
    name: 'orgwallet_relayer_balance_wei',
    help: 'Native currency held by the relayer that pays for gas on a network, in wei.',
    labelNames: ['network', 'address'],
    registers: [registry],
  });
  const payable = new Gauge({
    name: 'orgwallet_relayer_payable_deployments',
    help: 'For about how many account deployments, the most expensive of what it pays for, a relayer has funds at the current gas price.',
    labelNames: ['network', 'address'],
    registers: [registry],
  });
  return {
    setRelayerBalance({ networkId, address, wei, deployments }) {
      relayers.set({ network: String(networkId), address }, Number(wei));
      payable.set({ network: String(networkId), address }, deployments);
    },
    removeRelayerBalance({ networkId, address }) {
      relayers.remove({ network: String(networkId), address });
      payable.remove({ network: String(networkId), address });
    },
  };
}

/** What a signer has read last of the admins' Safes. */
interface UpkeepReading {
  safes(): readonly { networkId: number; status: string; seconds: number }[];
  takenOver(): ReadonlyMap<number, number>;
  unsecured(): ReadonlyMap<number, number>;
}

/** Not yet what the admins have decided. */
const BEHIND: readonly string[] = ['missing', 'behind', 'unknown'];

/** How the admins' Safes are. */
function upkeepMetrics(registry: Registry): Pick<Metrics, 'watchUpkeep'> {
  let reading: UpkeepReading | undefined;
  new Gauge({
    name: 'orgwallet_admins_safes',
    help: "Admins' Safes on a network by their status, as the signer has read it.",
    labelNames: ['network', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { networkId, status } of reading?.safes() ?? []) this.inc({ network: networkId, status });
    },
  });
  new Gauge({
    name: 'orgwallet_admins_safe_behind_seconds',
    help: "For how long an admins' Safe on a network has not been what its admins have decided; 0 where all are.",
    labelNames: ['network'],
    registers: [registry],
    collect() {
      this.reset();
      const longest = new Map<number, number>();
      for (const { networkId, status, seconds } of reading?.safes() ?? []) {
        const behind = BEHIND.includes(status) ? seconds : 0;
        longest.set(networkId, Math.max(longest.get(networkId) ?? 0, behind));
      }
      for (const [network, seconds] of longest) this.set({ network }, seconds);
    },
  });
  new Gauge({
    name: 'orgwallet_accounts_taken_over',
    help: 'Accounts on a network that their admins have taken over on chain.',
    labelNames: ['network'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [network, accounts] of reading?.takenOver() ?? []) this.set({ network }, accounts);
    },
  });
  new Gauge({
    name: 'orgwallet_accounts_unsecured',
    help: 'Accounts on a network that lack the module, though the admins have a Safe there: its owners have removed it.',
    labelNames: ['network'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [network, accounts] of reading?.unsecured() ?? []) this.set({ network }, accounts);
    },
  });
  return {
    watchUpkeep(read) {
      reading = read;
    },
  };
}

/** How long executions of transactions take. */
function executionMetrics(registry: Registry): Pick<Metrics, 'observeExecution' | 'setOldestExecution'> {
  const stages = new Histogram({
    name: 'orgwallet_execution_stage_duration_seconds',
    help: 'Executed transactions: from the threshold until the first envelope was sent (broadcast), from then until confirmed (confirm).',
    labelNames: ['stage'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600],
    registers: [registry],
  });
  const envelopes = new Histogram({
    name: 'orgwallet_execution_envelopes',
    help: 'Envelopes that were sent for an executed transaction.',
    buckets: [1, 2, 3, 5, 10],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'orgwallet_oldest_execution_age_seconds',
    help: 'For how long the oldest execution of a transaction has been undecided; 0 without one.',
    registers: [registry],
  });
  return {
    observeExecution(times) {
      stages.observe({ stage: 'broadcast' }, times.broadcastSeconds);
      stages.observe({ stage: 'confirm' }, times.confirmSeconds);
      envelopes.observe(times.envelopes);
    },
    setOldestExecution(seconds) {
      oldest.set(seconds);
    },
  };
}

const DESTINATION_STATES = ['active', 'failing', 'paused', 'disabled'] as const;

function destinationState({
  isDisabled,
  isPaused,
  isFailing,
}: DestinationLag): (typeof DESTINATION_STATES)[number] {
  if (isDisabled) return 'disabled';
  if (isPaused) return 'paused';
  return isFailing ? 'failing' : 'active';
}

/** What is sent to webhooks and other destinations. */
function deliveryMetrics(registry: Registry): Pick<Metrics, 'setDeliveries' | 'countDelivery'> {
  const registers = [registry];
  const attempts = new Counter({
    name: 'orgwallet_delivery_attempts_total',
    help: 'Attempts of this process to send an event to a destination: taken, or failed.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const destinations = new Gauge({
    name: 'orgwallet_destinations',
    help: 'Destinations of events, of the whole installation: active, failing, paused or disabled.',
    labelNames: ['state'],
    registers,
  });
  const oldest = new Gauge({
    name: 'orgwallet_delivery_oldest_seconds',
    help: 'Age of the oldest event that a destination lacks which is neither paused nor disabled; 0: none lacks any.',
    registers,
  });
  return {
    countDelivery: (kind, outcome) => attempts.inc({ kind, outcome }),
    setDeliveries(lags) {
      const states = lags.map(destinationState);
      for (const state of DESTINATION_STATES) {
        destinations.set({ state }, states.filter((one) => one === state).length);
      }
      const ages = lags.flatMap((lag, n) =>
        ['active', 'failing'].includes(states[n] ?? '') ? [lag.oldestMs] : [],
      );
      oldest.set(Math.max(0, ...ages) / 1_000);
    },
  };
}

/** The lag of the event loop is measured so often: every 10 ms would take half of the processor time of a process at rest. */
const EVENT_LOOP_PRECISION_MS = 100;

/** Creates the registry of one process, which runs these roles. */
export function createMetrics(roles: readonly Role[]): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  exportBuild(registry, roles);
  const http = new Histogram({
    name: 'orgwallet_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
    registers: [registry],
  });
  const repairs = new Counter({
    name: 'orgwallet_reconciler_repairs_total',
    help: 'Repairs of proposals and transactions whose record and workflow disagreed, by kind.',
    labelNames: ['repair'],
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'orgwallet_signer_refusals_total',
    help: 'What the signer has refused to sign, by reason: a failure code, rollback, clock, frozen, gas, or unsigned.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const unknownExecutions = new Counter({
    name: 'orgwallet_unknown_executions_total',
    help: 'Executions at nonces of authorized transactions that the signer has not authorized: somebody else has used the key.',
    registers: [registry],
  });
  const rpc = new Counter({
    name: 'orgwallet_rpc_requests_total',
    help: 'Requests to the endpoints of networks, by result: answered, failed, limited, or refused (this request, and not others).',
    labelNames: ['network', 'endpoint', 'result'],
    registers: [registry],
  });
  const badTokens = new Gauge({
    name: 'orgwallet_token_list_bad_entries',
    help: 'Entries of the token list for configured networks that are left out.',
    registers: [registry],
  });
  const sources: (() => Promise<string>)[] = [];
  return {
    ...createHealthMetrics(registry),
    ...processMetrics(registry),
    ...relayerMetrics(registry),
    ...executionMetrics(registry),
    ...upkeepMetrics(registry),
    ...deliveryMetrics(registry),
    registry,
    async exposition() {
      const texts = sources.map((read) => read().catch(() => ''));
      return [await registry.metrics(), ...(await Promise.all(texts))].join('\n');
    },
    addSource(read) {
      sources.push(read);
    },
    observeHttp({ method, route, status, seconds }) {
      http.observe({ method, route, status: String(status) }, seconds);
    },
    countRepair(repair) {
      repairs.inc({ repair });
    },
    countRefusal(reason) {
      refusals.inc({ reason });
    },
    countUnknownExecution() {
      unknownExecutions.inc();
    },
    countRpc({ networkId, host, result }) {
      rpc.inc({ network: String(networkId), endpoint: host, result });
    },
    setBadTokens(entries) {
      badTokens.set(entries);
    },
  };
}
