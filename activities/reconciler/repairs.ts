import { closeApproval } from '../../src/approvals/closing';
import type { Db } from '../../src/db/database';
import { withoutSql } from '../../src/db/databaseFailure';
import type { DestinationLag } from '../../src/db/destinations';
import {
  hasRecordedItself,
  readRepairable,
  restartsLastHour,
  type StalledApproval,
} from '../../src/db/reconciler';
import type { ApprovalRef } from '../../src/domain/approvalRef';
import { foundText, MAX_LISTED_REPAIRS, repairOf, type WorkflowGone } from '../../src/domain/reconciliation';
import type { Logger } from '../../src/logging';
import { mapLimit } from '../../src/mapLimit';
import type { Differences } from '../../src/reconciler/compare';
import type { OpenApproval } from '../../src/reconciler/openApprovals';
import { refreshApproval, refreshWorkflow, restartApproval } from '../../src/temporal/approvalMessages';
import type { Build } from '../../src/temporal/builds';
import type { WorkflowSender } from '../../src/temporal/client';
import { refreshDelivery, wakeDelivery } from '../../src/temporal/deliveryMessages';
import { approvalWorkflowId, deliveryWorkflowId } from '../../src/temporal/ids';
import { findWorkflow } from '../../src/temporal/runs';
import type { IsDue } from './backoffs';
import { noteNetworks } from './noteNetworks';

/** A kind of repair, for the metric. */
type Repair = 'restarted' | 'closed' | 'refreshed' | 'noted' | 'postponed' | 'failed';

/** The dependencies of the reconciler. */
export interface ReconcilerDeps {
  readonly db: Db;
  readonly sender: WorkflowSender;
  /** The build of this process; undefined while builds are not distinguished. */
  readonly build: Build | undefined;
  readonly networkIds: readonly number[];
  /** The time between two passes. */
  readonly everyMs: number;
  readonly logger: Logger;
  readonly countRepair: (repair: Repair) => void;
}

/** How many repairs run at once, so that other requests are served. */
export const AT_ONCE = 16;
/** After this many failures in a row the pass ends: a part that repairs need is unavailable. */
const MAX_FAILURES = 20;
/** For how long something could be sent before its workflow is looked for. */
const OVERDUE_MS = 5_000;
/** A workflow that ends repeatedly would fill the audit log. */
const MAX_RESTARTS_PER_HOUR = 10;
/** How long a pass waits for a workflow that it has started; the workflow continues in any case. */
const FIRST_ACTIVITY_LIMIT_MS = 10_000;
const FIRST_ACTIVITY_POLL_MS = 50;

/** The repairs of one pass, as counts and text. */
export class Repairs {
  readonly counts: { [repair in Repair]: number } = {
    restarted: 0,
    closed: 0,
    refreshed: 0,
    noted: 0,
    postponed: 0,
    failed: 0,
  };
  readonly texts: string[] = [];
  private failuresInARow = 0;

  constructor(
    private readonly deps: ReconcilerDeps,
    private readonly signal: AbortSignal,
  ) {}

  /** Repairs every difference. Throws when everything fails. */
  async run(
    { missingWorkflow, networksChanged, stalled, diverged, orphaned }: Differences,
    isDue: IsDue,
  ): Promise<void> {
    const approvals = <T extends ApprovalRef>(list: readonly T[], work: (approval: T) => Promise<void>) =>
      mapLimit(AT_ONCE, list, (approval) => this.attempt(approval.id, () => work(approval)));
    await approvals(missingWorkflow, (approval) => this.repair(approval));
    await approvals(networksChanged, (approval) => this.noteNetworks(approval));
    await approvals(
      stalled.filter(({ id }) => isDue(id)),
      (approval) => this.refreshStalled(approval),
    );
    await approvals(
      diverged.filter(({ id }) => isDue(id)),
      (approval) => this.refreshDiverged(approval),
    );
    await this.refreshOrphans(orphaned.filter(isDue));
  }

  /** Notifies workflows that run without what they are for, which then end. */
  private async refreshOrphans(workflowIds: readonly string[]): Promise<void> {
    await mapLimit(AT_ONCE, workflowIds, (id) => this.attempt(id, () => this.refreshOrphan(id)));
  }

  /**
   * Ends the workflows of destinations that are not there any more, and wakes whatever sends events and has not for a while: one
   * whose workflow was lost begins again where it was. `running`: the ids of the workflows that run.
   */
  async repairDeliveries(
    running: readonly string[],
    lags: readonly DestinationLag[],
    isDue: IsDue,
  ): Promise<void> {
    const known = new Set(lags.map(deliveryWorkflowId));
    await this.refreshOrphans(running.filter((id) => !known.has(id)).filter(isDue));
    const overdue = lags.filter(({ dueMs }) => dueMs >= OVERDUE_MS);
    await mapLimit(AT_ONCE, overdue, (lag) => this.attempt(lag.id, () => this.wakeDelivery(lag)));
  }

  private async wakeDelivery(lag: DestinationLag): Promise<void> {
    const { sender } = this.deps;
    const found = await findWorkflow(sender, deliveryWorkflowId(lag));
    // One that runs is sending, or waits for a receiver.
    if (found.status === 'running') return wakeDelivery(sender, lag);
    await refreshDelivery(sender, lag);
    const fields = { organizationId: lag.organizationId, found };
    this.done('restarted', lag.id, `its workflow ${foundText(found)} and was restarted`, fields);
  }

  private done(repair: Repair, id: string, text: string, fields: object = {}): void {
    const { countRepair, logger } = this.deps;
    this.counts[repair] += 1;
    countRepair(repair);
    logger.warn({ resourceId: id, repair, ...fields }, text);
    if (this.texts.length < MAX_LISTED_REPAIRS) this.texts.push(`${id}: ${text}`);
  }

  /** One repair. The next pass retries a failed one, unless all fail. */
  private async attempt(id: string, work: () => Promise<void>): Promise<void> {
    this.signal.throwIfAborted();
    try {
      await work();
      this.failuresInARow = 0;
    } catch (thrown) {
      // Its text is a result of the activity, and so in the history of the workflow.
      const error = withoutSql(thrown);
      this.done('failed', id, `repair failed: ${(error as Error).message}`, { err: error });
      this.failuresInARow += 1;
      if (this.failuresInARow >= MAX_FAILURES) throw error;
    }
  }

  /** Waits for the first activity of a run, so that restarts do not queue up before requests of the API. */
  private async awaitFirstActivity(approval: OpenApproval, runId: string): Promise<void> {
    const end = performance.now() + FIRST_ACTIVITY_LIMIT_MS;
    while (performance.now() < end && !this.signal.aborted) {
      if (await hasRecordedItself(this.deps.db, approval, runId)) return;
      await new Promise((resolve) => setTimeout(resolve, FIRST_ACTIVITY_POLL_MS));
    }
  }

  private async restart(approval: OpenApproval, found: WorkflowGone): Promise<void> {
    const { db, sender } = this.deps;
    const { id, organizationId } = approval;
    const fields = { organizationId, found };
    if ((await restartsLastHour(db, approval)) >= MAX_RESTARTS_PER_HOUR) {
      const text = `its workflow ${foundText(found)}, and was restarted ${MAX_RESTARTS_PER_HOUR} times in the last hour; retried later`;
      return this.done('postponed', id, text, fields);
    }
    await this.awaitFirstActivity(approval, await restartApproval(sender, approval, found));
    this.done('restarted', id, `its workflow ${foundText(found)} and was restarted`, fields);
  }

  private async repair(approval: OpenApproval): Promise<void> {
    const { db, sender } = this.deps;
    const found = await findWorkflow(sender, approvalWorkflowId(approval));
    if (found.status === 'running') return;
    const seen = await readRepairable(db, approval);
    const wanted = seen ? repairOf(seen.record, seen.time, found) : null;
    if (wanted === null) return;
    if (wanted === 'restart') return this.restart(approval, found);
    const reason = `its workflow ${foundText(found)}`;
    const closed = await closeApproval(db, approval, {
      reason,
      details: { found: { ...found } },
      mayClose: ({ record, time }) => repairOf(record, time, found) === 'close',
    });
    // After a concurrent change the next pass decides.
    const { id, organizationId } = approval;
    if (closed) this.done('closed', id, `${reason}, so it was closed`, { organizationId, found });
  }

  private async noteNetworks(approval: OpenApproval): Promise<void> {
    const { db, sender } = this.deps;
    if (!(await noteNetworks(db, approval))) return;
    await refreshApproval(sender, approval);
    const networks = approval.changedNetworks.map(({ networkId, isGone }) =>
      isGone ? `${networkId} (no longer configured)` : `${networkId} (configured again)`,
    );
    this.done(
      'noted',
      approval.id,
      `the configuration of networks that it names has changed: ${networks.join(', ')}`,
    );
  }

  private async refreshStalled(approval: StalledApproval): Promise<void> {
    await refreshApproval(this.deps.sender, approval);
    const seconds = Math.round(approval.unchangedMs / 1_000);
    const text = `its execution has not changed for ${seconds} s; its workflow was notified`;
    this.done('refreshed', approval.id, text);
  }

  private async refreshDiverged(approval: OpenApproval): Promise<void> {
    await refreshApproval(this.deps.sender, approval);
    const status = approval.executionStatus ?? 'none';
    const text = `its workflow does not know its execution status, ${status}; the workflow was notified`;
    this.done('refreshed', approval.id, text);
  }

  private async refreshOrphan(workflowId: string): Promise<void> {
    await refreshWorkflow(this.deps.sender, workflowId);
    this.done(
      'refreshed',
      workflowId,
      'it is closed or removed, or the database has lost it, and its workflow was running; the workflow was notified',
    );
  }
}
