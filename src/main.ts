import { ConfigError, loadConfig, missingInProduction } from './config';
import { createLogger } from './logging';
import { startService } from './service';
import { withTimeLimit } from './timeLimit';

/** Runs the parts that ORGWALLET_ROLES names, until SIGINT or SIGTERM, or until it cannot go on. */
async function main(): Promise<void> {
  const missing = process.env.NODE_ENV === 'production' ? missingInProduction(process.env) : [];
  if (missing.length > 0) {
    process.stderr.write(
      `orgwallet cannot start: settings are missing:\n${missing.map((line) => `  ${line}\n`).join('')}`,
    );
    process.exit(1);
  }
  const config = loadConfig(process.env);
  const logger = createLogger(config.logLevel);
  const service = await startService(config, logger);
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
  logger.info({ roles: config.roles }, 'running');
}

main().catch((error) => {
  const text = error instanceof ConfigError ? error.message : (error?.stack ?? String(error));
  process.stderr.write(`orgwallet cannot start: ${text}\n`);
  process.exit(1);
});
