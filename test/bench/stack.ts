import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/db/migrate';
import { projectRoot } from '../../src/projectRoot';
import { ensureCertificate } from '../../tools/dev/certificate';
import { type RunningChain, startChain } from '../../tools/dev/localChain';
import { writeNetworksFile, writeTokenListFile } from '../../tools/dev/localNetworks';
import { type Part, startPart, untilReady } from '../../tools/dev/parts';
import { freePorts } from '../../tools/dev/ports';
import { ensureDatabase, startPostgres } from '../../tools/dev/postgres';
import { findTemporalBinary } from '../../tools/dev/temporalBinary';
import { startTemporal } from '../../tools/dev/temporalServer';
import { HttpsConnection, requestBytes } from './connection';
import type { FloorParts } from './floor/client';
import { createFloorDatabase, floorPool } from './floor/database';
import { many } from './measure';
import { processorMs } from './processor';
import { type CpuProfile, readProfile, takeBlocked } from './profileFile';

/** Real parts as `npm start` has them, the service as in production, and the floors to compare it with. */
export interface BenchStack {
  readonly databaseUrl: string;
  /** The same database, with the login that may do anything. */
  readonly superuserUrl: string;
  readonly signerDatabaseUrl: string;
  /** The keys of the signer. */
  readonly keystore: { readonly file: string; readonly passphrase: string };
  readonly temporalAddress: string;
  readonly httpsPort: number;
  /** The ports of all API processes. */
  readonly httpsPorts: readonly number[];
  /** The certificate, which is its own authority. */
  readonly ca: string;
  readonly certificateKey: string;
  /** The RPC of one of the two chains. */
  rpcUrl(networkId: number): string;
  /** The processor time that each part has used so far, in milliseconds. */
  processorMs(): Map<string, number>;
  /** The profile of each of the service's processes while work is done. Only of a stack that is profiled. */
  profiled(work: () => Promise<unknown>): Promise<ReadonlyMap<string, CpuProfile>>;
  /** For how long the first process of the service was blocked at most since the last call. Only with `blockingProbe`. */
  blockedMs(): Promise<number>;
  /** Where the floors are. */
  readonly floor: Omit<FloorParts, 'client'>;
  /** The end of what the service has logged above info. */
  serviceLog(): string;
  /** Starts the floor's server for one document; returns its port. */
  startFloorServer(document: unknown): Promise<number>;
  stop(): Promise<void>;
}

const FLOOR_QUEUE = 'bench-floor';
const FLOOR_NETWORK_ID = 31_338;

const superuserUrlOf = ({ adminUrl }: { readonly adminUrl: string }, database: string) =>
  adminUrl.replace(/[^/]*$/, database);

function rpcUrlOf(chains: readonly RunningChain[], networkId: number): string {
  const chain = chains.find(({ chainId }) => chainId === networkId);
  if (!chain) throw new Error(`there is no chain ${networkId}`);
  return chain.rpcUrl;
}

/**
 * Starts everything on free ports, with its data in a temporary folder. The service is one process beside the signer, or
 * so many of each role as `perRole` says; its networks need so many `confirmations`. `preload`: what its processes load before their program.
 */
export async function startBenchStack(
  say: (line: string) => void,
  {
    perRole = 0,
    confirmations = 0,
    preload,
  }: {
    readonly perRole?: number;
    readonly confirmations?: number;
    readonly preload?: 'profiler' | 'blockingProbe';
  } = {},
): Promise<BenchStack> {
  const dir = mkdtempSync(join(tmpdir(), 'orgwallet-bench-'));
  // Postgres may run as another user, who has to come through to its files.
  chmodSync(dir, 0o755);
  const logs = join(dir, 'logs');
  mkdirSync(logs);
  const profiles = join(dir, 'profiles');
  const parts: Part[] = [];
  const started = <T extends { part: Part }>(running: T): T => {
    parts.push(running.part);
    return running;
  };
  const stop = async () => {
    // The service and the floors first: they use the other parts.
    const service = parts.filter(({ name }) => name.startsWith('the '));
    await Promise.all(service.map((part) => part.stop()));
    await Promise.all(parts.map((part) => part.stop()));
    rmSync(dir, { recursive: true, force: true });
  };
  const node = (
    name: string,
    script: string,
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
  ): Part => {
    const part = startPart({
      name,
      command: process.execPath,
      args: [
        ...(preload ? ['--require', join(__dirname, `${preload}.js`)] : []),
        '--enable-source-maps',
        script,
        ...args,
      ],
      cwd: projectRoot(),
      env: { PATH: process.env.PATH, BENCH_PROFILES: profiles, ...more },
      logFile: join(logs, `${name.replaceAll(' ', '-')}.log`),
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000,
    });
    parts.push(part);
    return part;
  };
  try {
    const roleSets =
      perRole === 0 ? ['api,worker,chain'] : many(perRole, () => ['api', 'worker', 'chain']).flat();
    const ports = await freePorts(6 + 3 * roleSets.length);
    const [postgresPort = 0, temporalPort = 0, firstPort = 0, secondPort = 0] = ports;
    const [floorPort = 0, signerOpsPort = 0, ...servicePorts] = ports.slice(4);
    const binary = await findTemporalBinary(process.env, say);
    const certFile = join(dir, 'tls', 'cert.pem');
    const keyFile = join(dir, 'tls', 'key.pem');
    const chainOptions = [
      { name: 'Local Chain 1', chainId: 31_337, port: firstPort },
      { name: 'Local Chain 2', chainId: 31_338, port: secondPort },
    ];
    const [postgres, temporal, chains] = await Promise.all([
      startPostgres({
        dir: join(dir, 'postgres'),
        port: postgresPort,
        logFile: join(logs, 'postgres.log'),
      }).then(started),
      startTemporal({
        binary: binary.path,
        port: temporalPort,
        namespace: 'default',
        databaseFile: join(dir, 'temporal', 'state.db'),
        logFile: join(logs, 'temporal.log'),
        retentionDays: 7,
      }).then(started),
      Promise.all(
        chainOptions.map((chain) =>
          startChain({
            ...chain,
            dir: join(dir, 'chains'),
            logFile: join(logs, `chain-${chain.chainId}.log`),
          }).then(started),
        ),
      ),
      ensureCertificate(certFile, keyFile),
    ]);
    const database = await ensureDatabase(postgres.adminUrl, 'orgwallet');
    await migrate(database.owner, { production: true });
    const networksFile = join(dir, 'networks.json');
    const tokenListFile = join(dir, 'token-list.json');
    // As the floor, which awaits the receipt: how soon the tools mine the next block is not measured.
    writeNetworksFile(networksFile, chains, { confirmations });
    writeTokenListFile(tokenListFile, chains);
    const shared = {
      NODE_ENV: 'production',
      ORGWALLET_DATA_DIR: dir,
      TEMPORAL_ADDRESS: temporal.address,
      NETWORKS_FILE: networksFile,
      TOKEN_LIST_FILE: tokenListFile,
    };
    const main = join(__dirname, '..', '..', 'src', 'main.js');
    const keystore = {
      file: join(dir, 'keystore.json'),
      passphrase: randomBytes(32).toString('base64url'),
    };
    const signer = node('the signer', main, [], {
      ...shared,
      ORGWALLET_ROLES: 'signer',
      SIGNER_DATABASE_URL: database.signer,
      KEYSTORE_FILE: keystore.file,
      KEYSTORE_PASSPHRASE: keystore.passphrase,
      OPS_PORT: String(signerOpsPort),
    });
    const services = roleSets.map((roles, index) => {
      const [httpsPort = 0, httpPort = 0, opsPort = 0] = servicePorts.slice(3 * index);
      const name =
        perRole === 0 ? 'the service' : `the ${roles} ${index < 3 ? '' : Math.floor(index / 3) + 1}`.trim();
      const part = node(name, main, [], {
        ORGWALLET_ROLES: roles,
        DATABASE_URL: database.service,
        TLS_CERT_FILE: certFile,
        TLS_KEY_FILE: keyFile,
        HTTPS_PORT: String(httpsPort),
        HTTP_PORT: String(httpPort),
        OPS_PORT: String(opsPort),
        // Without one there is no console.
        ORIGINS: `https://localhost:${httpsPort}`,
        // One client asks for everything, and nothing of it is ever closed.
        RATE_LIMIT_PER_SECOND: '100000',
        RATE_LIMIT_BURST: '1000000',
        MAX_OPEN_PER_KEY: '1000000',
        // What is measured is not interrupted, and copies of records are not repaired.
        RECONCILE_EVERY: '1d',
        // Receivers of webhooks are on this machine, with the certificate of the service.
        WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: certFile,
        ...shared,
      });
      return { roles, part, httpsPort, port: opsPort };
    });
    const [first] = services;
    if (!first) throw new Error('no process of the service was started');
    const floor = {
      taskQueue: FLOOR_QUEUE,
      databaseUrl: superuserUrlOf(postgres, 'bench_floor'),
      rpcUrl: rpcUrlOf(chains, FLOOR_NETWORK_ID),
      networkId: FLOOR_NETWORK_ID,
    };
    await createFloorDatabase(postgres.adminUrl, floor.databaseUrl);
    const floorArguments = [temporal.address, FLOOR_QUEUE, floor.databaseUrl, floor.rpcUrl];
    node('the floor worker', join(__dirname, 'floor', 'worker.js'), floorArguments);
    const untilServed = (part: Part, port: number) =>
      untilReady(part, 60_000, async () => {
        const response = await fetch(`http://127.0.0.1:${port}/statusz`);
        if (!response.ok) throw new Error('not ready');
      });
    const served = [...services, { part: signer, port: signerOpsPort }];
    await Promise.all(served.map(({ part, port }) => untilServed(part, port)));
    const ca = readFileSync(certFile, 'utf8');
    return {
      certificateKey: readFileSync(keyFile, 'utf8'),
      databaseUrl: database.owner,
      superuserUrl: superuserUrlOf(postgres, 'orgwallet'),
      signerDatabaseUrl: database.signer,
      keystore,
      temporalAddress: temporal.address,
      httpsPort: first.httpsPort,
      httpsPorts: services.filter(({ roles }) => roles.startsWith('api')).map(({ httpsPort }) => httpsPort),
      ca,
      rpcUrl: (networkId) => rpcUrlOf(chains, networkId),
      async profiled(work) {
        const served = parts.filter(({ name }) => name.startsWith('the ') && !name.includes('floor'));
        const toggle = () => served.map(({ pid }) => process.kill(pid, 'SIGUSR2'));
        toggle();
        await work();
        toggle();
        return new Map(
          await Promise.all(
            served.map(async ({ name, pid }) => [name, await readProfile(profiles, pid)] as const),
          ),
        );
      },
      blockedMs: () => takeBlocked(profiles, first.part.pid),
      processorMs: () => new Map(parts.map(({ name, pid }) => [name, processorMs(pid)])),
      floor,
      serviceLog: () =>
        readFileSync(first.part.logFile, 'utf8')
          .split('\n')
          .filter((line) => !line.includes('"level":"info"'))
          .slice(-10)
          .join('\n'),
      async startFloorServer(document) {
        const documentFile = join(dir, 'document.json');
        writeFileSync(documentFile, JSON.stringify(document));
        const pool = floorPool(floor.databaseUrl);
        await pool.query(`INSERT INTO documents VALUES ('1', $1)`, [JSON.stringify(document)]);
        await pool.end();
        const args = [String(floorPort), certFile, keyFile, floor.databaseUrl, documentFile];
        const server = node('the floor server', join(__dirname, 'floor', 'server.js'), args);
        await untilReady(server, 20_000, async () => {
          const connection = await HttpsConnection.open(floorPort, ca);
          await connection.send(requestBytes({ path: '/document' }));
          connection.close();
        });
        return floorPort;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
