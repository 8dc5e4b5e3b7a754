import type { Config } from '../config';
import type { Logger } from '../logging';
import { type RunningProcess, startProcess } from '../process';
import { signerWorkers } from './workers';

/**
 * Starts the process of the signer: the keys, the journal and what they sign for. It has nothing of the API, of the workers
 * that it does not trust, or of what they load.
 */
export function startSigner(config: Config, logger: Logger): Promise<RunningProcess> {
  return startProcess(config, logger, { workersOf: signerWorkers });
}
