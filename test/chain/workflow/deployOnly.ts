import type { DeploymentKey, DeploymentResult } from '../../../src/domain/proposal';
import { deployOnNetwork } from '../../../workflows/deployment';

/** One deployment alone, with everything it reported. */
export async function deployOnly(
  key: DeploymentKey,
  queue: string,
): Promise<{ result: DeploymentResult; reports: (string | null)[] }> {
  const reports: (string | null)[] = [];
  const result = await deployOnNetwork(key, {
    queues: { chain: queue, signer: queue },
    report: async ({ waitingFor }) => {
      reports.push(waitingFor);
    },
  });
  return { result, reports };
}
