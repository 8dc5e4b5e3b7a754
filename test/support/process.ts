import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Config, loadConfig, type Role } from '../../src/config';
import { createDatabase } from '../../src/db/database';
import { type Part, projectRoot, startPart, untilReady } from '../../src/dev/parts';
import { checkConformance } from './conformance';
import { HttpClient } from './http';
import { fundRelayers } from './service';
import { freePorts } from './stack';

const run = promisify(execFile);

let build: Promise<unknown> | undefined;

/** Brings dist/ up to date, once per test file; quick when it is. */
async function ensureBuilt(): Promise<void> {
  build ??= run(process.execPath, [join(projectRoot(), 'src', 'dev', 'bootstrap.mjs')]);
  await build;
}

/** Some roles of the service as a process of their own, which a test may kill and start again. */
export interface ServiceProcess {
  readonly config: Config;
  /** Client of its API; useless without that role. */
  readonly http: HttpClient;
  /** Resolves when the process is gone, whatever ended it. */
  died(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Orderly stop. */
  stop(): Promise<void>;
  /** Starts it again after its end on the same ports and data, without a fault point unless one is given. */
  start(faultPoint?: string): Promise<void>;
  /** Makes the fault point count from now on that it was started with, behind which stands `@SIGUSR2`. */
  arm(): Promise<void>;
  /** What /readyz says is away. */
  away(): Promise<string[]>;
}

async function readJson(url: string): Promise<{ away?: string[] }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
    }).on('error', reject);
  });
}

/**
 * Starts roles of the service with the settings of `serviceSettings`, on ports of their own, and waits until they
 * answer and their workers poll. Relayers that it registers get coin.
 */
export async function startServiceProcess(
  settings: NodeJS.ProcessEnv,
  options: { roles: readonly Role[]; faultPoint?: string },
): Promise<ServiceProcess> {
  await ensureBuilt();
  const [httpsPort, httpPort, opsPort] = await freePorts(3);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    ...settings,
    ORGWALLET_ROLES: options.roles.join(','),
    HTTPS_PORT: String(httpsPort),
    HTTP_PORT: String(httpPort),
    OPS_PORT: String(opsPort),
  };
  const config = loadConfig(env);
  const away = async () => (await readJson(`http://127.0.0.1:${opsPort}/readyz`)).away ?? [];
  let part: Part;
  const start = async (faultPoint?: string) => {
    part = startPart({
      name: options.roles.join(' and '),
      command: process.execPath,
      args: [join(projectRoot(), 'dist', 'src', 'main.js')],
      env: faultPoint === undefined ? env : { ...env, TEST_FAULT_POINT: faultPoint },
      logFile: join(config.dataDir, `${options.roles.join('-')}-${opsPort}.log`),
      stopSignal: 'SIGTERM',
      stopLimitMs: 15_000,
    });
    await untilReady(part, 30_000, async () => {
      const missing = (await away()).filter((name) => !name.startsWith('network:'));
      if (missing.length > 0) throw new Error(`${missing.join(', ')} is away`);
    });
  };
  await start(options.faultPoint);
  if (options.roles.includes('signer')) {
    const db = createDatabase(config.databaseUrl, { poolMax: 1 });
    await fundRelayers(db, config).finally(() => db.destroy());
  }
  const http = new HttpClient(config.httpsPort, readFileSync(config.tls.certFile, 'utf8'), checkConformance);
  return {
    config,
    http,
    async died() {
      await part.exited;
    },
    kill: () => part.kill(),
    async stop() {
      http.close();
      await part.stop();
    },
    start,
    async arm() {
      process.kill(part.pid, 'SIGUSR2');
      // Its next answer comes after the signal.
      await away();
    },
    away,
  };
}
