import { Context } from '@temporalio/activity';
import { auditFreezes } from '../../src/db/freezes';
import type { ReconcileSummary } from '../../src/domain/reconciliation';
import type { TransactionRef } from '../../src/domain/transaction';
import { mapLimit } from '../../src/mapLimit';
import { compare, countsAgree } from '../../src/reconciler/compare';
import { refreshApproval, restartApproval } from '../../src/temporal/approvals';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { findWorkflow } from '../../src/temporal/runs';
import { Backoffs } from './backoffs';
import { AT_ONCE, type ReconcilerDeps, Repairs } from './repairs';

/**
 * How often the full list is read although the counts agree: two differences can cancel out, and none may
 * remain for longer than a minute.
 */
const LIST_EVERY_MS = 40_000;
const HEARTBEAT_MS = 1_000;

/** Repairs differences between approvals and their workflows. A pass can be interrupted, repeated, and run concurrently. */
export function createReconcilerActivities(deps: ReconcilerDeps) {
  const backoffs = new Backoffs();
  /** When Temporal's list was last read completely. */
  let listedAtMs = Number.NEGATIVE_INFINITY;

  /** One pass over everything that is open. */
  async function reconcile(): Promise<ReconcileSummary> {
    const { cancellationSignal, heartbeat } = Context.current();
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      await auditFreezes(deps.db);
      const isListDue = performance.now() - listedAtMs >= LIST_EVERY_MS;
      const unlisted = !isListDue && (await countsAgree(deps));
      const onStep = () => cancellationSignal.throwIfAborted();
      const differences = await compare(deps, { onStep, unlisted });
      if (!unlisted) listedAtMs = performance.now();
      const repairs = new Repairs(deps, cancellationSignal);
      await repairs.run(differences, backoffs.nextPass());
      const { open, running } = differences;
      return {
        ...{ open, running, listed: !unlisted },
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

/** The reconciler, as its workflow sees it. */
export type ReconcilerActivities = ReturnType<typeof createReconcilerActivities>;
