import type { Config } from '../config';
import type { Logger } from '../logging';
import { type RunningProcess, startProcess } from '../process';
import { signerWorkers } from './workers';

/**
 * Starts the process of a signer alone: the keys, the journal and what they sign for. It loads nothing of the API or of the
 * other workers, which it does not trust. Throws the reason of `ending` where that is aborted meanwhile.
 */
export function startSigner(config: Config, logger: Logger, ending?: AbortSignal): Promise<RunningProcess> {
  return startProcess(config, logger, { workersOf: signerWorkers }, ending);
}
