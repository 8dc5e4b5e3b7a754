import { once } from 'node:events';
import { ALL_ROLES, type Config, loadConfig, missingInProduction } from './config';
import { ConfigError } from './configError';
import { createLogger, type Logger } from './logging';
import type { RunningProcess } from './process';
import { withTimeLimit } from './timeLimit';

/** The logger of this process. It exists before the settings are read, which may be invalid. */
function processLogger({ ORGWALLET_ROLES: roles = '' }: NodeJS.ProcessEnv): Logger {
  return createLogger('info').child({ role: roles.replaceAll(/\s/g, '') || ALL_ROLES.join(',') });
}

/** Sends to the logger what Node prints as text: warnings, and errors that nothing handles. Those end the process. */
function logAll(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn({ err: warning }, 'warning of Node'));
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'stopping: an error that nothing handles');
    process.exit(1);
  });
}

/** Starts the parts that ORGWALLET_ROLES names. Throws the reason of `ending` where that is aborted meanwhile. */
type StartRoles = (config: Config, logger: Logger, ending: AbortSignal) => Promise<RunningProcess>;

/** Aborted by the first SIGINT or SIGTERM, from the first moment of the process on: a start ends in order too. */
function endedBySignals(logger: Logger): AbortSignal {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!ending.signal.aborted) logger.info({ signal }, 'stopping');
      ending.abort();
    });
  }
  return ending.signal;
}

/** Settles as `work` does, or rejects with the reason of `ending`. */
function unlessEnding<T>(work: Promise<T>, ending: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (ending.aborted) reject(ending.reason);
    ending.addEventListener('abort', () => reject(ending.reason), { once: true });
    work.then(resolve, reject);
  });
}

async function run(startRoles: StartRoles, logger: Logger, ending: AbortSignal): Promise<void> {
  // Loaded here: what cannot be loaded is logged too.
  const { awaitRememberedProduction } = await import('./production.js');
  const remembered = awaitRememberedProduction(process.env, {
    // What is wrong with the settings is said before a database that does not answer is waited for.
    onWaiting: () => void loadConfig(process.env),
    signal: ending,
  });
  const env = await unlessEnding(remembered, ending);
  const missing = env.NODE_ENV === 'production' ? missingInProduction(env) : [];
  if (missing.length > 0) {
    logger.fatal({ missing }, 'cannot start: settings are missing');
    process.exit(1);
  }
  const config = loadConfig(env);
  logger.level = config.logLevel;
  const service = await startRoles(config, logger, ending);
  logger.info('running');
  const status = await Promise.race([
    once(ending, 'abort').then(() => 0),
    service.failed.then((error) => {
      logger.error({ err: error }, 'stopping: this process cannot go on');
      return 1;
    }),
  ]);
  try {
    await withTimeLimit(service.stop(), service.stopLimitMs, () => {
      throw new Error(`not stopped within ${service.stopLimitMs / 1_000} s`);
    });
  } catch (error) {
    logger.error({ err: error }, 'graceful shutdown failed');
    process.exit(1);
  }
  process.exit(status);
}

/** Runs this process until SIGINT or SIGTERM, or until it cannot go on; its status is 0 after a graceful stop. */
export async function runProcess(startRoles: StartRoles): Promise<void> {
  const logger = processLogger(process.env);
  logAll(logger);
  const ending = endedBySignals(logger);
  try {
    await run(startRoles, logger, ending);
  } catch (error) {
    if (ending.aborted && error === ending.reason) {
      logger.info('stopped before it was running');
      process.exit(0);
    }
    // Whatever LOG_LEVEL is: a process that ends says why.
    logger.level = 'info';
    if (error instanceof ConfigError) {
      logger.fatal({ setting: error.setting }, `cannot start: ${error.message}`);
    } else logger.fatal({ err: error }, `cannot start: ${(error as Error)?.message ?? error}`);
    process.exit(1);
  }
}
