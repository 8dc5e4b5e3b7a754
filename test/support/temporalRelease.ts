import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type Part, startPart, untilReady } from '../../tools/dev/parts';
import { goProgram } from './goProgram';
import { freePorts, temporaryDir } from './stack';

/** The server as it is released, newer than the one in the CLI that `npm start` runs. */
const SERVER = { path: 'go.temporal.io/server/cmd/server', version: 'v1.32.0' };
/** As docs/production.md and docs/upgrade.md ask for. */
const DYNAMIC_SETTINGS = ['matching.enableFairness', 'frontend.enableCancelWorkerPollsOnShutdown'];
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
const RETENTION_SECONDS = 7 * 24 * 60 * 60;

const STORE = {
  sql: {
    pluginName: 'sqlite',
    databaseName: 'default',
    connectAddr: 'localhost',
    connectProtocol: 'tcp',
    connectAttributes: { mode: 'memory', cache: 'private' },
    maxConns: 1,
    maxIdleConns: 1,
  },
};

/** Starts a Temporal server of its own with the namespace `default`. Its state is in memory; the test stops it. */
export async function startTemporalRelease(): Promise<{ readonly address: string; readonly part: Part }> {
  const command = await goProgram(SERVER);
  const dir = temporaryDir();
  const ports = await freePorts(2 * SERVICES.length);
  const services = SERVICES.map((name, index) => [
    name,
    { rpc: { grpcPort: ports[2 * index], membershipPort: ports[2 * index + 1], bindOnIP: '127.0.0.1' } },
  ]);
  const address = `127.0.0.1:${ports[0]}`;
  const config = {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { default: STORE, visibility: STORE },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    publicClient: { hostPort: address },
    dynamicConfigClient: { filepath: join(dir, 'dynamic.yaml'), pollInterval: '1h' },
  };
  writeFileSync(
    join(dir, 'dynamic.yaml'),
    DYNAMIC_SETTINGS.map((name) => `${name}: [{ value: true }]\n`).join(''),
  );
  // JSON is YAML.
  writeFileSync(join(dir, 'temporal.yaml'), JSON.stringify(config));
  const part = startPart({
    name: 'Temporal',
    command,
    args: ['--config-file', join(dir, 'temporal.yaml'), '--allow-no-auth', 'start'],
    env: { PATH: process.env.PATH },
    logFile: join(dir, 'temporal.log'),
    stopSignal: 'SIGTERM',
    stopLimitMs: 10_000,
  });
  const connection = Connection.lazy({ address });
  try {
    await untilReady(part, 60_000, async () => {
      const { namespaces } = await connection.workflowService.listNamespaces({});
      if (namespaces?.some(({ namespaceInfo }) => namespaceInfo?.name === 'default')) return;
      await connection.workflowService.registerNamespace({
        namespace: 'default',
        workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS as never },
      });
    });
    // The namespace is there for workflows once it is in the server's cache.
    await untilReady(part, 60_000, async () => {
      await connection.workflowService.listWorkflowExecutions({ namespace: 'default', pageSize: 1 });
    });
  } finally {
    await connection.close();
  }
  return { address, part };
}
