import { Context } from '@temporalio/activity';
import { destinationLags } from '../../src/db/destinations';
import type { ReconcileSummary } from '../../src/domain/reconciliation';
import type { TransactionRef } from '../../src/domain/transaction';
import { mapLimit } from '../../src/mapLimit';
import { compare, countRanges, rangesDue } from '../../src/reconciler/compare';
import { refreshApproval, restartApproval } from '../../src/temporal/approvalMessages';
import { endAbandoned } from '../../src/temporal/builds';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { findWorkflow, listRunningDeliveries } from '../../src/temporal/runs';
import { Backoffs } from './backoffs';
import { auditFreezes } from './freezes';
import { AT_ONCE, type ReconcilerDeps, Repairs } from './repairs';

const HEARTBEAT_MS = 1_000;
/** After so many passes the workflows of destinations are listed: one without a destination waits, and does no harm meanwhile. */
const DELIVERIES_EVERY = 5;

/** Repairs differences between approvals and their workflows. A pass can be interrupted, repeated, and run concurrently. */
export function createReconcilerActivities(deps: ReconcilerDeps) {
  const backoffs = new Backoffs();

  /** One pass over everything that is open. */
  async function reconcile(): Promise<ReconcileSummary> {
    const { cancellationSignal, heartbeat, info } = Context.current();
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      await auditFreezes(deps.db);
      const onStep = () => cancellationSignal.throwIfAborted();
      await endAbandoned(deps, onStep);
      const ranges = await countRanges(deps, onStep);
      // By the time, whoever makes the pass.
      const pass = Math.floor(info.scheduledTimestampMs / deps.everyMs);
      const differences = await compare(deps, rangesDue(ranges, pass), onStep);
      const repairs = new Repairs(deps, cancellationSignal);
      const isDue = backoffs.nextPass();
      await repairs.run(differences, isDue);
      // Before the destinations are read: the workflow of one that is new begins after its record.
      const running = pass % DELIVERIES_EVERY === 0 ? await listRunningDeliveries(deps.sender, onStep) : [];
      await repairs.repairDeliveries(running, await destinationLags(deps.db), isDue);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      return {
        open: sum(ranges.map(({ open }) => open)),
        running: sum(ranges.map(({ running }) => running)),
        compared: differences.compared,
        ...repairs.counts,
        networkIds: deps.networkIds,
        repairs: repairs.texts,
      };
    } finally {
      clearInterval(beat);
    }
  }

  /** Resumes the workflows of reopened transactions: running ones read the record again, the others are restarted. */
  async function wakeReopened(transactions: readonly TransactionRef[]): Promise<void> {
    await mapLimit(AT_ONCE, transactions, async ({ organizationId, transactionId }) => {
      const ref = { subject: 'transaction', organizationId, id: transactionId } as const;
      const found = await findWorkflow(deps.sender, approvalWorkflowId(ref));
      if (found.status === 'running') await refreshApproval(deps.sender, ref);
      else await restartApproval(deps.sender, ref, found);
    });
  }

  return { reconcile, wakeReopened };
}
