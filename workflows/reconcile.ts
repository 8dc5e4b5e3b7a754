import { log, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ChainActivities } from '../activities/chainActivities';
import type { WorkerActivities } from '../activities/worker';
import { type ReconcileSummary, reconcileDetails } from '../src/domain/reconciliation';
import { networkQueue, taskQueues } from '../src/temporal/ids';
import { runOnAnyBuild } from './anyBuild';

const { reconcile } = proxyActivities<WorkerActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  // An interrupted pass loses nothing: the next one compares everything again.
  retry: { initialInterval: '1s', maximumInterval: '10s' },
  summary: 'Compare every open proposal and transaction with its workflow',
});

/** An unavailable network or worker does not delay a pass: the next one follows soon. */
const ONCE = { scheduleToCloseTimeout: '30s', retry: { maximumAttempts: 1 } } as const;

/** Finds transactions whose blocks a network has lost; returns the repairs as text. */
async function checkNetwork(networkId: number): Promise<string[]> {
  const queues = taskQueues(workflowInfo().taskQueue);
  const { findLostTransactions } = proxyActivities<ChainActivities>({
    ...ONCE,
    taskQueue: networkQueue(queues.chain, networkId),
    summary: `Look for transactions that network ${networkId} has lost`,
  });
  const { wakeReopened } = proxyActivities<WorkerActivities>({
    ...ONCE,
    summary: 'Resume the reopened transactions',
  });
  const reopened = await findLostTransactions({ networkId });
  if (reopened.length > 0) await wakeReopened(reopened);
  return reopened.map(({ transactionId }) => `${transactionId}: its block is gone, so it is executed again`);
}

/**
 * One pass of the reconciler: every open record in Postgres has a running workflow and the reverse, and what was decided
 * is still on its chain. Its schedule starts it repeatedly, never two at once.
 */
export async function reconcileWorkflow(): Promise<ReconcileSummary> {
  setCurrentDetails('Comparing every open proposal and transaction with its workflow.');
  const summary = await reconcile();
  setCurrentDetails(reconcileDetails(summary));
  const lost = await Promise.all(
    (summary.networkIds ?? []).map(async (networkId) => {
      try {
        return await checkNetwork(networkId);
      } catch (error) {
        const message = `network ${networkId} cannot be compared with the records now`;
        log.warn(message, { reason: (error as Error).message });
        return [message];
      }
    }),
  );
  const findings = lost.flat().map((line) => `- ${line}`);
  if (findings.length > 0) setCurrentDetails([reconcileDetails(summary), '', ...findings].join('\n'));
  return summary;
}

// A pass is short and goes on with the workers that there are: the schedule starts no other one meanwhile.
runOnAnyBuild(reconcileWorkflow);
