import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Db } from './db/database';

/** The metrics of the service, in the Prometheus text format. */
export interface Metrics {
  readonly registry: Registry;
  observeHttp(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Exports the connections of a pool under a name. */
  watchPool(name: string, db: Db): void;
  /** Exports whether a worker polls: 1 while `state()` is RUNNING. */
  watchWorker(taskQueue: string, state: () => string): void;
  /** Exports the native currency of a relayer. */
  setRelayerBalance(relayer: { networkId: number; address: string; wei: bigint }): void;
  /** Counts one repair of the reconciler. */
  countRepair(repair: string): void;
  /** Counts one refusal of the signer. */
  countRefusal(reason: string): void;
  /** An execution of an account that nobody here has authorized was found. */
  countUnknownExecution(): void;
}

interface PoolCounts {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

/** Creates the registry of one process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
  const relayers = new Gauge({
    name: 'orgwallet_relayer_balance_wei',
    help: 'Native currency held by the relayer that pays for gas on a network, in wei.',
    labelNames: ['network', 'address'],
    registers: [registry],
  });
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
    registry,
    observeHttp({ method, route, status, seconds }) {
      http.observe({ method, route, status: String(status) }, seconds);
    },
    watchPool(name, db) {
      pools.set(name, db.client.pool as PoolCounts);
    },
    watchWorker(taskQueue, state) {
      workers.set(taskQueue, state);
    },
    setRelayerBalance({ networkId, address, wei }) {
      relayers.set({ network: String(networkId), address }, Number(wei));
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
  };
}
