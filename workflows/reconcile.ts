import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ReconcilerActivities } from '../activities/reconciler';
import { type ReconcileSummary, reconcileDetails } from '../src/domain/reconciliation';

const { reconcile } = proxyActivities<ReconcilerActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  // A pass that breaks off has lost nothing: the next one looks at everything again and finds what is done.
  retry: { initialInterval: '1s', maximumInterval: '10s' },
  summary: 'Compare every open proposal with its workflow',
});

/**
 * One pass of the reconciler: what is open in Postgres has a running workflow, and what runs is open. Its schedule
 * starts it again and again, never two at once.
 */
export async function reconcileWorkflow(): Promise<ReconcileSummary> {
  setCurrentDetails('Comparing every open proposal with its workflow.');
  const summary = await reconcile();
  setCurrentDetails(reconcileDetails(summary));
  return summary;
}
