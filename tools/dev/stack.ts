import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readNetworks, urlHost } from '../../src/config';
import { isLoopback } from '../../src/domain/loopback';
import { projectRoot } from '../../src/projectRoot';
import type { RunningStack } from './board';
import { ensureCertificate } from './certificate';
import { startChain } from './localChain';
import { writeNetworksFile, writeTokenListFile } from './localNetworks';
import { startPart, untilReady } from './parts';
import { freePorts, takenPorts, type WantedPort } from './ports';
import { ensureDatabase, startPostgres } from './postgres';
import { dataFiles, type StackSettings } from './settings';
import { findTemporalBinary } from './temporalBinary';
import { startTemporal } from './temporalServer';

const run = promisify(execFile);

const SERVICE = 'the service';
const SIGNER = 'the signer';

/** The processes of the service among the parts: they are stopped before the others. */
export const PROCESSES: readonly string[] = [SERVICE, SIGNER];

const DATABASE = 'orgwallet';
const CHAIN_IDS = [31_337, 31_338];
const RETENTION_DAYS = 30;
const PREPARE_LIMIT_MS = 120_000;
const SERVICE_READY_LIMIT_MS = 90_000;

/** The context of a start. */
interface Start {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: StackSettings;
  readonly files: ReturnType<typeof dataFiles>;
  readonly say: (line: string) => void;
}

/** Ports that this start needs: those of the service and of each part that is not set to run elsewhere. */
function wantedPorts(settings: StackSettings): WantedPort[] {
  const ports: WantedPort[] = [
    { setting: 'HTTPS_PORT', port: settings.httpsPort, host: settings.httpsHost },
    { setting: 'HTTP_PORT', port: settings.httpPort, host: settings.httpHost },
    { setting: 'OPS_PORT', port: settings.opsPort, host: settings.opsHost },
  ];
  if (!settings.databaseUrl) ports.push({ setting: 'POSTGRES_PORT', port: settings.postgresPort });
  if (!settings.temporalAddress) {
    ports.push({ setting: 'TEMPORAL_PORT', port: settings.temporalPort });
    ports.push({ setting: 'TEMPORAL_UI_PORT', port: settings.temporalUiPort });
  }
  if (!settings.networksFile) {
    for (const offset of CHAIN_IDS.keys()) {
      ports.push({ setting: 'ANVIL_PORT', port: settings.anvilPort + offset, offset });
    }
  }
  return ports;
}

/** One step of the start in its own process; its argument may contain secrets and is passed in the environment. */
async function prepare(step: 'database' | 'networks' | 'demo', argument: string): Promise<void> {
  try {
    await run(process.execPath, [join(__dirname, 'prepare.js'), step], {
      env: { ...process.env, ORGWALLET_PREPARE: argument },
      timeout: PREPARE_LIMIT_MS,
    });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(stderr?.trim() || (error as Error).message);
  }
}

/** Writes settings to a file that others cannot read. */
function writePrivately(file: string, settings: Record<string, string>): void {
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}

/** The logins of the service and of the signer to the database, its schema up to date. */
async function databaseOf({ settings, files }: Start): Promise<Record<string, string>> {
  if (settings.databaseUrl) {
    rmSync(files.owner, { force: true });
    if (settings.migrationDatabaseUrl) await prepare('database', settings.migrationDatabaseUrl);
    return {
      DATABASE_URL: settings.databaseUrl,
      ...(settings.signerDatabaseUrl ? { SIGNER_DATABASE_URL: settings.signerDatabaseUrl } : {}),
    };
  }
  const postgres = await startPostgres({
    dir: join(settings.dataDir, 'postgres'),
    port: settings.postgresPort,
    logFile: join(files.logs, 'postgres.log'),
  });
  const { owner, service, signer } = await ensureDatabase(postgres.adminUrl, DATABASE);
  await prepare('database', owner);
  // For commands alone: no process of the service reads it.
  writePrivately(files.owner, { MIGRATION_DATABASE_URL: owner });
  return { DATABASE_URL: service, SIGNER_DATABASE_URL: signer };
}

async function temporalOf({ env, settings, files, say }: Start): Promise<RunningStack['temporal']> {
  if (settings.temporalAddress) return { address: settings.temporalAddress, uiUrl: env.TEMPORAL_UI_URL };
  const binary = await findTemporalBinary(env, say);
  say(`Temporal: using the CLI ${binary.source} (${binary.path})`);
  return startTemporal({
    binary: binary.path,
    port: settings.temporalPort,
    uiPort: settings.temporalUiPort,
    namespace: settings.temporalNamespace,
    databaseFile: join(settings.dataDir, 'temporal', 'state.db'),
    logFile: join(files.logs, 'temporal.log'),
    retentionDays: RETENTION_DAYS,
  });
}

/** The settings of the networks and, with embedded chains, of their tokens. */
async function networksOf({ settings, files }: Start): Promise<Record<string, string>> {
  const ownTokenList = settings.tokenListFile;
  if (settings.networksFile) {
    await prepare('networks', settings.networksFile);
    return {
      NETWORKS_FILE: settings.networksFile,
      ...(ownTokenList ? { TOKEN_LIST_FILE: ownTokenList } : {}),
    };
  }
  const chains = await Promise.all(
    CHAIN_IDS.map((chainId, index) =>
      startChain({
        name: `Local Chain ${index + 1}`,
        chainId,
        port: settings.anvilPort + index,
        dir: join(settings.dataDir, 'chains'),
        logFile: join(files.logs, `chain-${chainId}.log`),
      }),
    ),
  );
  writeNetworksFile(files.networks, chains);
  writeTokenListFile(files.tokenList, chains);
  return { NETWORKS_FILE: files.networks, TOKEN_LIST_FILE: ownTokenList ?? files.tokenList };
}

/** The keystore and its passphrase, generated at the first start unless one is set. */
function keystoreOf({ settings, files }: Start): Record<string, string> {
  mkdirSync(files.signer, { recursive: true, mode: 0o700 });
  const keystore = settings.keystoreFile ? {} : { KEYSTORE_FILE: files.keystore };
  if (settings.hasPassphrase) return keystore;
  if (!existsSync(files.passphrase)) {
    writeFileSync(files.passphrase, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  }
  return { ...keystore, KEYSTORE_PASSPHRASE_FILE: files.passphrase };
}

function announceParts({ settings, say }: Start): void {
  const embedded = [
    ...(settings.databaseUrl ? [] : ['Postgres']),
    ...(settings.temporalAddress ? [] : ['Temporal']),
    ...(settings.networksFile ? [] : ['two chains']),
  ];
  if (embedded.length > 0) say(`Starting ${embedded.join(', ')} (about 5 s)`);
}

const SERVICE_SECRETS = ['DATABASE_URL'];
const SIGNER_SECRETS = [
  'SIGNER_DATABASE_URL',
  'KEYSTORE_FILE',
  'KEYSTORE_PASSPHRASE',
  'KEYSTORE_PASSPHRASE_FILE',
];

function operationsUrlOf({ OPS_HOST: host, OPS_PORT: port }: NodeJS.ProcessEnv): string {
  return `http://${urlHost(host)}:${port}`;
}

/**
 * Starts one process of the service without the settings that it must not have, and waits until it is ready. Its API stays closed
 * where no signer is started that compares the database with its journal.
 */
async function startProcess(
  { files, settings: { roles } }: Start,
  name: string,
  program: string,
  settings: NodeJS.ProcessEnv,
  withheld: readonly string[],
): Promise<void> {
  const without = new Set(['MIGRATION_DATABASE_URL', ...withheld]);
  const part = startPart({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', MAX_SEMI_SPACE, program],
    cwd: projectRoot(),
    env: Object.fromEntries(Object.entries(settings).filter(([setting]) => !without.has(setting))),
    logFile: join(files.logs, `${name.replace('the ', '')}.log`),
    stopSignal: 'SIGTERM',
    stopLimitMs: 9_000,
  });
  await untilReady(part, SERVICE_READY_LIMIT_MS, async () => {
    const response = await fetch(`${operationsUrlOf(settings)}/readyz`, {
      signal: AbortSignal.timeout(3_000),
    });
    const { unavailable } = (await response.json()) as { unavailable: readonly string[] };
    const isReady = unavailable.every((name) => name === 'journal' && !roles.includes('signer'));
    if (!isReady) throw new Error('not ready');
  });
}

/** A process that is mostly at rest: a small space for new objects, in MiB, saves it 10 to 35 MB. */
const MAX_SEMI_SPACE = '--max-semi-space-size=4';

const PROGRAM = join(__dirname, '..', '..', 'src', 'main.js');
/** The service with the wallets of the demo in its pages. */
const PROGRAM_WITH_DEMO = join(__dirname, 'service.js');

/** Starts the service, and the signer as a process with a data folder of its own; resolves when both are ready. */
async function startProcesses(
  start: Start,
  stackSettings: Record<string, string>,
  hasDemo: boolean,
): Promise<void> {
  const { env, settings, files } = start;
  const all = { ...env, ...stackSettings };
  const roles = settings.roles.filter((role) => role !== 'signer');
  // Nobody listens on those of the service yet.
  const wanted = wantedPorts(settings).map(({ port }) => port);
  const [freePort] = roles.length > 0 ? await freePorts(1, wanted) : [settings.opsPort];
  const signer = {
    ...all,
    ORGWALLET_ROLES: 'signer',
    ORGWALLET_DATA_DIR: files.signer,
    OPS_PORT: String(freePort),
  };
  await Promise.all([
    roles.length > 0 &&
      startProcess(
        start,
        SERVICE,
        hasDemo ? PROGRAM_WITH_DEMO : PROGRAM,
        { ...all, ORGWALLET_ROLES: roles.join(',') },
        SIGNER_SECRETS,
      ),
    settings.roles.includes('signer') && startProcess(start, SIGNER, PROGRAM, signer, SERVICE_SECRETS),
  ]);
}

/**
 * Starts the parts that do not run elsewhere, then the service; resolves when it is ready. Throws when
 * a port is taken or a part does not start.
 */
export async function startStack(
  env: NodeJS.ProcessEnv,
  settings: StackSettings,
  say: (line: string) => void,
): Promise<RunningStack> {
  const files = dataFiles(settings.dataDir);
  const start: Start = { env, settings, files, say };
  const problems = await takenPorts(wantedPorts(settings));
  if (problems.length > 0) throw new Error(problems.join('\n'));

  announceParts(start);
  const [database, temporal, networkSettings] = await Promise.all([
    databaseOf(start),
    temporalOf(start),
    networksOf(start),
    settings.tlsCertFile ? undefined : ensureCertificate(files.certificate, files.certificateKey),
  ]);
  const stackSettings: Record<string, string> = {
    ORGWALLET_DATA_DIR: settings.dataDir,
    ...(settings.httpsHost ? { HTTPS_HOST: settings.httpsHost } : {}),
    HTTPS_PORT: String(settings.httpsPort),
    ...(settings.httpHost ? { HTTP_HOST: settings.httpHost } : {}),
    HTTP_PORT: String(settings.httpPort),
    OPS_HOST: settings.opsHost,
    OPS_PORT: String(settings.opsPort),
    ...database,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: settings.temporalNamespace,
    ...networkSettings,
    ...(temporal.uiUrl ? { TEMPORAL_UI_URL: temporal.uiUrl } : {}),
    // Without the signer, for the commands that need it to be stopped.
    ...(settings.roles.includes('signer') || existsSync(files.keystore) ? keystoreOf(start) : {}),
  };
  writePrivately(files.stack, stackSettings);

  const networksFile = networkSettings.NETWORKS_FILE ?? '';
  const networks = readNetworks(networksFile);
  // The genesis of the demo organization is admitted by the signer of this machine.
  const hasDemo =
    settings.roles.includes('signer') && networks.every(({ rpcUrls }) => rpcUrls.every(isLoopback));
  say('Starting the service (about 5 s)');
  await startProcesses(start, stackSettings, hasDemo);
  const operationsUrl = operationsUrlOf(stackSettings);

  const origin = `https://${urlHost(settings.httpsHost, 'localhost')}:${settings.httpsPort}`;
  const caFile = settings.tlsCertFile ?? files.certificate;
  if (hasDemo) {
    const temporalUiUrl = temporal.uiUrl ?? null;
    const addresses = { origin, baseUrl: `${origin}/api/v1`, caFile, operationsUrl, temporalUiUrl };
    const { KEYSTORE_FILE = settings.keystoreFile, KEYSTORE_PASSPHRASE_FILE } = stackSettings;
    const signer = {
      databaseUrl: database.SIGNER_DATABASE_URL,
      keystoreFile: KEYSTORE_FILE,
      passphrase: process.env.KEYSTORE_PASSPHRASE,
      passphraseFile: KEYSTORE_PASSPHRASE_FILE ?? process.env.KEYSTORE_PASSPHRASE_FILE,
    };
    const demo = {
      databaseUrl: database.DATABASE_URL,
      signer,
      networksFile,
      demoFile: files.demo,
      addresses,
    };
    await prepare('demo', JSON.stringify(demo));
  }
  return { origin, caFile, operationsUrl, temporal, networks, hasDemo };
}
