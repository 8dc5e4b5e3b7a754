import { readFileSync } from 'node:fs';
import { type Config, loadConfig, type Role } from '../../src/config';
import type { Part } from '../../tools/dev/parts';
import { checkConformance } from './conformance';
import { HttpClient } from './http';
import { connectAsOwner, fundRelayers, startServicePart, unavailableParts } from './service';
import { freePorts } from './stack';

/** Some roles of the service as a process of their own, which a test may kill and start again. */
export interface ServiceProcess {
  readonly config: Config;
  /** Its settings, for commands beside it. */
  readonly env: NodeJS.ProcessEnv;
  /** Client of its API; useless without that role. */
  readonly http: HttpClient;
  /** The id of the process that runs now, or ran last. */
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process is gone, whatever ended it. */
  died(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Orderly stop. */
  stop(): Promise<void>;
  /** Starts it again after its end on the same ports and data, without a failpoint unless one is given. */
  start(failpoint?: string): Promise<void>;
  /** The same; its API may refuse every request, because the database was rolled back. */
  startClosed(): Promise<void>;
  /** Makes the failpoint count from now on that it was started with, behind which stands `@SIGUSR2`. */
  arm(): Promise<void>;
  /** The parts that /statusz reports as unavailable. */
  unavailableParts(): Promise<string[]>;
}

/**
 * Starts roles of the service with the settings of `serviceSettings`, on ports of their own, and waits until they
 * answer and their workers poll. Relayers that it registers are funded. `root` is the folder of the build; `isClosed`: its
 * API may refuse every request, because the database was rolled back.
 */
export async function startServiceProcess(
  settings: NodeJS.ProcessEnv,
  options: { roles: readonly Role[]; failpoint?: string; root?: string; isClosed?: true },
): Promise<ServiceProcess> {
  const [httpsPort, httpPort, opsPort] = await freePorts(3);
  const env: NodeJS.ProcessEnv = {
    ...settings,
    ORGWALLET_ROLES: options.roles.join(','),
    HTTPS_PORT: String(httpsPort),
    HTTP_PORT: String(httpPort),
    OPS_PORT: String(opsPort),
  };
  const config = loadConfig(env);
  let part: Part;
  const start = async (failpoint?: string, isClosed = false) => {
    part = await startServicePart(
      failpoint === undefined ? env : { ...env, TEST_FAILPOINT: failpoint },
      (name) => name.startsWith('network:') || (isClosed && name === 'journal'),
      options.root,
    );
  };
  await start(options.failpoint, options.isClosed);
  if (options.roles.includes('signer')) {
    const db = connectAsOwner(env, 1);
    await fundRelayers(db, config).finally(() => db.destroy());
  }
  const http = new HttpClient(config.httpsPort, readFileSync(config.tls.certFile, 'utf8'), {
    listener: checkConformance,
  });
  return {
    config,
    env,
    http,
    get pid() {
      return part.pid;
    },
    get logFile() {
      return part.logFile;
    },
    async died() {
      await part.exited;
    },
    kill: () => part.kill(),
    async stop() {
      http.close();
      await part.stop();
    },
    start: (failpoint) => start(failpoint),
    startClosed: () => start(undefined, true),
    async arm() {
      process.kill(part.pid, 'SIGUSR2');
      // Its next answer comes after the signal.
      await unavailableParts(env);
    },
    unavailableParts: () => unavailableParts(env),
  };
}
