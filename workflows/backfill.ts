import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ChainActivities } from '../activities/chainActivities';
import { networkQueue, taskQueues } from '../src/temporal/ids';
import { runOnAnyBuild } from './anyBuild';

/** Activities of one run: its history stays short. */
const PARTS_OF_A_RUN = 200;

/**
 * Reads the movements of the past on a network: of accounts that are new, or older than the readings. What is read is in the
 * database, so that it goes on from there, whatever ended before.
 */
export async function backfillWorkflow({ networkId }: { readonly networkId: number }): Promise<void> {
  const queues = taskQueues(workflowInfo().taskQueue);
  const { backfillMovements } = proxyActivities<ChainActivities>({
    taskQueue: networkQueue(queues.chain, networkId),
    startToCloseTimeout: '10m',
    heartbeatTimeout: '1m',
    // A network may be unavailable for long; nothing is lost.
    retry: { initialInterval: '2s', maximumInterval: '1m' },
    summary: `Read movements of the past on network ${networkId}`,
  });
  for (let part = 0; part < PARTS_OF_A_RUN; part += 1) {
    const left = await backfillMovements({ networkId });
    if (!left || left.accounts === 0) {
      setCurrentDetails('All movements of the past are read.');
      return;
    }
    const { accounts, blocksRead, blocksLeft } = left;
    const share = (100n * BigInt(blocksRead)) / (BigInt(blocksRead) + BigInt(blocksLeft));
    setCurrentDetails(
      `Reading movements of the past on network ${networkId}: ${share} % of the blocks of ${accounts} accounts; ${blocksLeft} are left.`,
    );
  }
  await continueAsNew<typeof backfillWorkflow>({ networkId });
}

// Nothing else starts another one while it runs.
runOnAnyBuild(backfillWorkflow);
