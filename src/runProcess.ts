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

/** Starts the parts that ORGWALLET_ROLES names. */
type StartRoles = (config: Config, logger: Logger) => Promise<RunningProcess>;

async function run(startRoles: StartRoles, logger: Logger): Promise<void> {
  // Loaded here: what cannot be loaded is logged too.
  const { withRememberedProduction } = await import('./production.js');
  // A database that does not answer yet is waited for later, and asked again.
  const env = await withRememberedProduction(process.env).catch(() => process.env);
  const missing = env.NODE_ENV === 'production' ? missingInProduction(env) : [];
  if (missing.length > 0) {
    logger.fatal({ missing }, 'cannot start: settings are missing');
    process.exit(1);
  }
  const config = loadConfig(env);
  logger.level = config.logLevel;
  const service = await startRoles(config, logger);
  let stopping: Promise<void> | undefined;
  const stop = (status: number) => {
    stopping ??= withTimeLimit(service.stop(), service.stopLimitMs, () => {
      throw new Error(`not stopped within ${service.stopLimitMs / 1_000} s`);
    }).then(
      () => process.exit(status),
      (error) => {
        logger.error({ err: error }, 'graceful shutdown failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!stopping) logger.info({ signal }, 'stopping');
      stop(0);
    });
  }
  service.failed.then((error) => {
    logger.error({ err: error }, 'stopping: this process cannot go on');
    stop(1);
  });
  logger.info('running');
}

/** Runs this process until SIGINT or SIGTERM, or until it cannot go on; its status is 0 after a graceful stop. */
export async function runProcess(startRoles: StartRoles): Promise<void> {
  const logger = processLogger(process.env);
  logAll(logger);
  try {
    await run(startRoles, logger);
  } catch (error) {
    // Whatever LOG_LEVEL is: a process that ends says why.
    logger.level = 'info';
    if (error instanceof ConfigError) {
      logger.fatal({ setting: error.setting }, `cannot start: ${error.message}`);
    } else logger.fatal({ err: error }, `cannot start: ${(error as Error)?.message ?? error}`);
    process.exit(1);
  }
}
