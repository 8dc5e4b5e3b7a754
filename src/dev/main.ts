import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { readNetworks } from '../config';
import { ensureCertificate } from './certificate';
import { startChain } from './localChain';
import { isLoopback, writeNetworksFile, writeTokenListFile } from './localNetworks';
import { lastLogLines, type Part, projectRoot, startedParts, startPart, untilReady } from './parts';
import { takenPorts, type WantedPort } from './ports';
import { ensureDatabase, startPostgres } from './postgres';
import { endLeftovers, known, removeRecord, writeRecord } from './processes';
import { dataFiles, missingInProduction, readStackSettings, type StackSettings } from './settings';
import { findTemporalBinary } from './temporalBinary';
import { startTemporal } from './temporalServer';

const run = promisify(execFile);

const DATABASE = 'orgwallet';
const RETENTION_DAYS = 30;
const PARENT_WATCH_MS = 500;
const SERVICE_READY_LIMIT_MS = 90_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Ports that this start needs: those of the service and of each part that is not set to run elsewhere. */
function wantedPorts(settings: StackSettings): WantedPort[] {
  return [
    { setting: 'HTTPS_PORT', port: settings.httpsPort },
    { setting: 'HTTP_PORT', port: settings.httpPort },
    { setting: 'OPS_PORT', port: settings.opsPort, host: settings.opsHost },
    ...(settings.databaseUrl ? [] : [{ setting: 'POSTGRES_PORT', port: settings.postgresPort }]),
    ...(settings.temporalAddress
      ? []
      : [
          { setting: 'TEMPORAL_PORT', port: settings.temporalPort },
          { setting: 'TEMPORAL_UI_PORT', port: settings.temporalUiPort },
        ]),
    ...(settings.networksFile
      ? []
      : [
          { setting: 'ANVIL_PORT', port: settings.anvilPort },
          { setting: 'ANVIL_PORT', port: settings.anvilPort + 1, offset: 1 },
        ]),
  ];
}

/** One step of the start in a process of its own; its argument may hold secrets and goes by the environment. */
async function prepare(step: 'database' | 'networks' | 'demo', argument: string): Promise<void> {
  try {
    await run(process.execPath, [join(__dirname, 'prepare.js'), step], {
      env: { ...process.env, ORGWALLET_PREPARE: argument },
      timeout: 120_000,
    });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(stderr?.trim() || (error as Error).message);
  }
}

async function embeddedPostgres(settings: StackSettings, logs: string): Promise<string> {
  const postgres = await startPostgres({
    dir: join(settings.dataDir, 'postgres'),
    port: settings.postgresPort,
    logFile: join(logs, 'postgres.log'),
  });
  await ensureDatabase(postgres.adminUrl, DATABASE);
  return postgres.urlOf(DATABASE);
}

async function embeddedTemporal(settings: StackSettings, logs: string, env: NodeJS.ProcessEnv) {
  const binary = await findTemporalBinary(env, say);
  say(`Temporal: using the CLI ${binary.source} (${binary.path})`);
  return startTemporal({
    binary: binary.path,
    port: settings.temporalPort,
    uiPort: settings.temporalUiPort,
    namespace: settings.temporalNamespace,
    databaseFile: join(settings.dataDir, 'temporal', 'state.db'),
    logFile: join(logs, 'temporal.log'),
    retentionDays: RETENTION_DAYS,
  });
}

async function embeddedChains(settings: StackSettings, logs: string): Promise<void> {
  const files = dataFiles(settings.dataDir);
  const chains = await Promise.all(
    [31_337, 31_338].map((chainId, index) =>
      startChain({
        name: `Local Chain ${index + 1}`,
        chainId,
        port: settings.anvilPort + index,
        dir: join(settings.dataDir, 'chains'),
        logFile: join(logs, `chain-${chainId}.log`),
      }),
    ),
  );
  writeNetworksFile(files.networks, chains);
  writeTokenListFile(files.tokenList, chains);
}

function board(settings: StackSettings, lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([label]) => label.length)) + 2;
  return lines
    .map(
      ([label, text]) =>
        `  ${label.padEnd(width)}${text.replace(`${settings.dataDir}/`, shown(settings.dataDir))}`,
    )
    .join('\n');
}

function shown(dataDir: string): string {
  const path = relative(process.cwd(), dataDir);
  return `${path.startsWith('..') ? dataDir : path}/`;
}

/** Starts what is not set to run elsewhere, then the service; resolves when the first request can be served. */
async function start(env: NodeJS.ProcessEnv, settings: StackSettings): Promise<Part> {
  const files = dataFiles(settings.dataDir);
  const problems = await takenPorts(wantedPorts(settings));
  if (problems.length > 0) throw new Error(problems.join('\n'));

  const embedded = [
    ...(settings.databaseUrl ? [] : ['Postgres']),
    ...(settings.temporalAddress ? [] : ['Temporal']),
    ...(settings.networksFile ? [] : ['two chains']),
  ];
  if (embedded.length > 0) say(`Starting ${embedded.join(', ')} (about 5 s)`);
  const networksFile = settings.networksFile ?? files.networks;
  const tokenListFile = settings.tokenListFile ?? (settings.networksFile ? undefined : files.tokenList);
  const [databaseUrl, temporal] = await Promise.all([
    (settings.databaseUrl
      ? Promise.resolve(settings.databaseUrl)
      : embeddedPostgres(settings, files.logs)
    ).then(async (url) => {
      await prepare('database', url);
      return url;
    }),
    settings.temporalAddress
      ? Promise.resolve({ address: settings.temporalAddress, uiUrl: env.TEMPORAL_UI_URL })
      : embeddedTemporal(settings, files.logs, env),
    settings.networksFile ? prepare('networks', settings.networksFile) : embeddedChains(settings, files.logs),
    settings.tlsCertFile ? Promise.resolve() : ensureCertificate(files.certificate, files.certificateKey),
  ]);

  if (!settings.hasPassphrase && !existsSync(files.passphrase)) {
    writeFileSync(files.passphrase, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  }
  const serviceSettings: Record<string, string> = {
    ORGWALLET_DATA_DIR: settings.dataDir,
    HTTPS_PORT: String(settings.httpsPort),
    HTTP_PORT: String(settings.httpPort),
    OPS_HOST: settings.opsHost,
    OPS_PORT: String(settings.opsPort),
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: settings.temporalNamespace,
    NETWORKS_FILE: networksFile,
    ...(temporal.uiUrl ? { TEMPORAL_UI_URL: temporal.uiUrl } : {}),
    ...(tokenListFile ? { TOKEN_LIST_FILE: tokenListFile } : {}),
    ...(settings.hasPassphrase ? {} : { KEYSTORE_PASSPHRASE_FILE: files.passphrase }),
  };
  writeFileSync(files.stack, `${JSON.stringify(serviceSettings, null, 2)}\n`, { mode: 0o600 });
  chmodSync(files.stack, 0o600);

  say('Starting the service (about 5 s)');
  const service = startPart({
    name: 'the service',
    command: process.execPath,
    args: ['--enable-source-maps', join(__dirname, '..', 'main.js')],
    cwd: projectRoot(),
    env: { ...env, ...serviceSettings },
    logFile: join(files.logs, 'service.log'),
    stopSignal: 'SIGTERM',
    stopLimitMs: 9_000,
  });
  const operationsUrl = `http://${settings.opsHost === '0.0.0.0' ? '127.0.0.1' : settings.opsHost}:${settings.opsPort}`;
  await untilReady(service, SERVICE_READY_LIMIT_MS, async () => {
    const response = await fetch(`${operationsUrl}/readyz`, { signal: AbortSignal.timeout(3_000) });
    if (!response.ok) throw new Error('not ready');
  });

  const origin = `https://localhost:${settings.httpsPort}`;
  const networks = readNetworks(networksFile);
  const isDemo = networks.every(({ rpcUrl }) => isLoopback(rpcUrl));
  const caFile = settings.tlsCertFile ?? files.certificate;
  if (isDemo) {
    await prepare(
      'demo',
      JSON.stringify({
        databaseUrl,
        networksFile,
        demoFile: files.demo,
        addresses: {
          origin,
          baseUrl: `${origin}/api/v1`,
          caFile,
          operationsUrl,
          temporalUiUrl: temporal.uiUrl ?? null,
        },
      }),
    );
  }
  say('');
  say('orgwallet is ready');
  say('');
  say(
    board(settings, [
      ['API', `${origin}/api/v1 (certificate: ${caFile})`],
      ['Documentation', `${origin}/docs`],
      ['Temporal UI', temporal.uiUrl ?? `of ${temporal.address}`],
      ...networks.map(({ id, name, rpcUrl }) => [name, `${rpcUrl} (chain id ${id})`] as const),
      ['Operations', `${operationsUrl}/readyz, /healthz, /metrics`],
      ...(isDemo ? [['Demo credentials', files.demo] as const] : []),
      ['Logs', `${files.logs}/`],
      ['Stop', 'Ctrl-C'],
    ]),
  );
  say('');
  say(
    isDemo
      ? '  Next, in another terminal: npm run demo'
      : '  Next, in another terminal: npx orgwallet doctor',
  );
  say('');
  return service;
}

/** In production nothing is embedded: the schema is brought up to date and this process becomes the service. */
async function runInProduction(env: NodeJS.ProcessEnv): Promise<void> {
  const missing = missingInProduction(env);
  if (missing.length > 0) {
    throw new Error(
      `In production (NODE_ENV=production) nothing is embedded, and these settings are missing:\n${missing.map((line) => `  ${line}`).join('\n')}`,
    );
  }
  const settings = readStackSettings(env);
  const problems = await takenPorts(wantedPorts(settings));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await prepare('database', settings.databaseUrl ?? '');
  const files = dataFiles(settings.dataDir);
  if (!settings.tlsCertFile) await ensureCertificate(files.certificate, files.certificateKey);
  await import('../main.js');
}

/** Runs the embedded stack and the service until a signal comes, the parent goes or a part ends by itself. */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
  if (env.NODE_ENV === 'production') return runInProduction(env);
  const settings = readStackSettings(env);
  const files = dataFiles(settings.dataDir);
  // Others may pass through, for a Postgres that runs as another user; every file in it is closed to them.
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o711 });
  mkdirSync(files.logs, { recursive: true, mode: 0o700 });
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);

  const supervisor = known('supervisor', process.pid);
  let stopping: Promise<void> | undefined;
  const stopAll = async () => {
    const parts = startedParts().filter((part) => part.isRunning());
    const service = parts.find((part) => part.name === 'the service');
    await service?.stop();
    await Promise.all(parts.map((part) => part.stop()));
    // A part that was being started when the stop began.
    await Promise.all(startedParts().map((part) => part.kill()));
    removeRecord(files.supervisor);
  };
  const stop = (reason: string, status: number): Promise<void> => {
    if (stopping) return stopping;
    say(`Stopping (${reason})`);
    const stopped = stopAll()
      .then(
        () => say('Stopped'),
        (error: Error) => say(error.message),
      )
      .then(() => process.exit(status));
    stopping = stopped;
    return stopped;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal, 0));
  // Under npm a lost parent means that npm was killed; the timer also keeps this process alive.
  const parent = process.ppid;
  setInterval(() => {
    if (env.npm_lifecycle_event && process.ppid !== parent) stop('npm is gone', 1);
  }, PARENT_WATCH_MS);

  const watched = new Set<Part>();
  const watchParts = () => {
    const fresh = startedParts().filter((part) => !watched.has(part));
    if (fresh.length === 0 || stopping) return;
    for (const part of fresh) {
      watched.add(part);
      void part.exited.then(({ code, signal }) => {
        if (stopping || !ready) return;
        process.stderr.write(
          `${part.name} ended by itself (${signal ?? `status ${code}`}). The end of ${part.logFile}:\n${lastLogLines(part.logFile)}\n`,
        );
        stop(`${part.name} ended`, 1);
      });
    }
    writeRecord(files.supervisor, {
      supervisor,
      parts: startedParts()
        .filter((part) => part.isRunning())
        .map((part) => known(part.name, part.pid)),
    });
  };
  let ready = false;
  const recorder = setInterval(watchParts, 50);
  try {
    await endLeftovers(files.supervisor, settings.dataDir, say);
    writeRecord(files.supervisor, { supervisor, parts: [] });
    await start(env, settings);
    ready = true;
    watchParts();
    clearInterval(recorder);
    for (const part of startedParts()) {
      if (!part.isRunning() && part.name !== 'Postgres')
        throw new Error(`${part.name} ended during the start`);
    }
  } catch (error) {
    if (stopping) return;
    process.stderr.write(`${(error as Error).message}\n`);
    await stop('the start failed', 1);
  }
}
