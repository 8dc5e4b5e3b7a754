import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { generate } from 'selfsigned';
import { migrate } from '../../../src/db/migrate';
import { projectRoot } from '../../../src/projectRoot';
import { startChain } from '../../../tools/dev/localChain';
import { writeNetworksFile, writeTokenListFile } from '../../../tools/dev/localNetworks';
import type { Part } from '../../../tools/dev/parts';
import { freePorts } from '../../../tools/dev/ports';
import { ensureDatabase, startPostgres } from '../../../tools/dev/postgres';
import { findTemporalBinary } from '../../../tools/dev/temporalBinary';
import { startTemporal } from '../../../tools/dev/temporalServer';
import { endServices } from '../sharedServices';
import type { SharedStack } from '../stack';

/** Makes the certificate that the services of all tests have. */
async function writeCertificate(dir: string): Promise<void> {
  const altNames = [
    { type: 2 as const, value: 'localhost' },
    { type: 7 as const, ip: '127.0.0.1' },
  ];
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  mkdirSync(dir);
  writeFileSync(join(dir, 'cert.pem'), certificate.cert);
  writeFileSync(join(dir, 'key.pem'), certificate.private, { mode: 0o600 });
}

/** Tests look with the owner's login for what waits for a lock. */
async function letOwnerSeeLocks(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('grant pg_read_all_stats to orgwallet_owner').finally(() => client.end());
}

const TEMPLATE_DATABASE = 'orgwallet_template';

declare global {
  var orgwalletTestStack: { stop(): Promise<void> } | undefined;
}

/** Starts one real Postgres, Temporal and two chains for all test files of a run. */
export default async function globalSetup(): Promise<void> {
  if (globalThis.orgwalletTestStack) return;
  // One bundle of the workflows for all tests, of the sources as they are.
  execFileSync(process.execPath, [join(projectRoot(), 'tools', 'dev', 'bootstrap.mjs')], { stdio: 'ignore' });
  const dir = mkdtempSync(join(tmpdir(), 'orgwallet-test-'));
  // Postgres may run as another user, who has to come through to its files.
  chmodSync(dir, 0o755);
  const parts: Part[] = [];
  const stop = async () => {
    globalThis.orgwalletTestStack = undefined;
    try {
      await endServices(dir);
    } finally {
      await Promise.all(parts.map((part) => part.stop()));
      rmSync(dir, { recursive: true, force: true });
    }
  };
  globalThis.orgwalletTestStack = { stop };
  const started = <T extends { part: Part }>(running: T): T => {
    parts.push(running.part);
    return running;
  };
  const logs = join(dir, 'logs');
  mkdirSync(logs);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  try {
    const [postgresPort = 0, temporalPort = 0, firstPort = 0, secondPort = 0] = await freePorts(4);
    const binary = await findTemporalBinary(process.env, say);
    const results = await Promise.allSettled([
      startPostgres({
        dir: join(dir, 'postgres'),
        port: postgresPort,
        logFile: join(logs, 'postgres.log'),
        durable: false,
        socket: true,
      }).then(started),
      startTemporal({
        binary: binary.path,
        port: temporalPort,
        namespace: 'default',
        logFile: join(logs, 'temporal.log'),
        retentionDays: 7,
      }).then(started),
      ...[
        { name: 'Local Chain 1', chainId: 31337, port: firstPort },
        { name: 'Local Chain 2', chainId: 31338, port: secondPort },
      ].map((chain) =>
        startChain({
          ...chain,
          dir: join(dir, 'chains'),
          logFile: join(logs, `chain-${chain.chainId}.log`),
          durable: false,
        }).then(started),
      ),
    ] as const);
    const broken = results.find((result) => result.status === 'rejected');
    if (broken) throw broken.reason;
    const [postgres, temporal, ...chains] = results.map((result) =>
      result.status === 'fulfilled' ? result.value : undefined,
    ) as [
      Awaited<ReturnType<typeof startPostgres>>,
      Awaited<ReturnType<typeof startTemporal>>,
      ...Awaited<ReturnType<typeof startChain>>[],
    ];
    const templateUrls = await ensureDatabase(postgres.adminUrl, TEMPLATE_DATABASE);
    await migrate(templateUrls.owner);
    await letOwnerSeeLocks(postgres.adminUrl);
    const networksFile = join(dir, 'networks.json');
    const tokenListFile = join(dir, 'token-list.json');
    writeNetworksFile(networksFile, chains);
    writeTokenListFile(tokenListFile, chains);
    const tlsDir = join(dir, 'tls');
    await writeCertificate(tlsDir);
    const stack: SharedStack = {
      dir,
      databaseAdminUrl: postgres.adminUrl,
      templateDatabase: TEMPLATE_DATABASE,
      templateUrls,
      temporalAddress: temporal.address,
      temporalBinary: binary.path,
      tlsDir,
      networksFile,
      tokenListFile,
      chains: chains.map(({ chainId, rpcUrl, token }) => ({ chainId, rpcUrl, token })),
    };
    const file = join(dir, 'stack.json');
    writeFileSync(file, JSON.stringify(stack), { mode: 0o600 });
    process.env.ORGWALLET_TEST_STACK = file;
  } catch (error) {
    await stop();
    throw error;
  }
}
