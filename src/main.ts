import type { Config } from './config';
import type { Logger } from './logging';
import type { RunningProcess } from './process';
import { runProcess } from './runProcess';
import { isSignerAlone } from './signerApart';

/** Starts the roles of this process. Where the signer is alone, nothing else is loaded beside it. */
async function startRoles(config: Config, logger: Logger, ending: AbortSignal): Promise<RunningProcess> {
  if (isSignerAlone(config.roles)) {
    const { startSigner } = await import('./signer/main.js');
    return startSigner(config, logger, ending);
  }
  const { startService } = await import('./service.js');
  return startService(config, logger, { ending });
}

void runProcess(startRoles);
