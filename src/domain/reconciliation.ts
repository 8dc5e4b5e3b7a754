import { type ApprovalRecord, isExpired } from './approval';

/** When approvals expire: from a time on, until before another. Null: no limit. */
export interface ExpiryRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Every time of expiry. */
export const ANY_EXPIRY: ExpiryRange = { from: null, to: null };

/** How a workflow can have ended. */
export const ENDED = ['completed', 'failed', 'timedOut', 'terminated', 'cancelled'] as const;

/** The status of the workflow of an open record. */
export type WorkflowFound = { readonly status: 'running' } | WorkflowGone;

/** The status of a workflow that does not run. */
export type WorkflowGone =
  | { readonly status: 'missing' }
  | {
      readonly status: (typeof ENDED)[number];
      readonly runId: string;
      /** An operator ended it, not the service or the Temporal server. */
      readonly byOperator: boolean;
      /** The reason that the operator gave; empty for none. */
      readonly reason: string;
    };

/** As text, after "its workflow". */
export function foundText(found: WorkflowGone): string {
  const reason = 'reason' in found && found.reason !== '' ? ` (reason given: ${found.reason})` : '';
  switch (found.status) {
    case 'missing':
      return 'was missing';
    case 'completed':
      return 'had ended before it';
    case 'failed':
      return 'had failed';
    case 'timedOut':
      return 'had timed out';
    case 'terminated':
    case 'cancelled':
      return `was ${found.status}${found.byOperator ? ' by an operator' : ''}${reason}`;
  }
}

/** The fields that determine whether an approval continues. */
export type Repairable = Pick<
  ApprovalRecord,
  'closed' | 'executionStatus' | 'executionAttempt' | 'expiresAt'
> & {
  readonly votes: readonly unknown[];
};

/**
 * What to do about an open record whose workflow does not run. An operator who ends one that nobody has
 * signed closes it; one that is signed or begun continues from its record.
 */
export function repairOf(record: Repairable, time: Date, found: WorkflowFound): 'close' | 'restart' | null {
  if (record.closed || found.status === 'running') return null;
  const ended = found.status === 'terminated' || found.status === 'cancelled';
  const untouched = record.votes.length === 0 && record.executionAttempt === 0;
  return ended && found.byOperator && untouched && !isExpired(record, time) ? 'close' : 'restart';
}

/** What one pass of the reconciler found and did. Counts are of approvals: proposals and transactions. */
export interface ReconcileSummary {
  readonly open: number;
  /** Workflows that run, by Temporal's count. */
  readonly running: number;
  /** How many of the open ones were compared one by one; the others by count. */
  readonly compared: number;
  /** Workflows that were started again. */
  readonly restarted: number;
  /** Records closed because an operator had ended their workflow. */
  readonly closed: number;
  /** Workflows notified to read their record again. */
  readonly refreshed: number;
  /** Records noted with a network that is not configured anymore, or is again. */
  readonly noted: number;
  /** Workflows not restarted for now, because they were restarted too often recently. */
  readonly postponed: number;
  /** Repairs that did not succeed; the next pass tries them again. */
  readonly failed: number;
  /** Networks to be checked for lost blocks. */
  readonly networkIds: readonly number[];
  /** The first repairs, as text. */
  readonly repairs: readonly string[];
}

/** How many repairs a summary lists. */
export const MAX_LISTED_REPAIRS = 50;

/** The description for operators in the Temporal UI (Markdown). */
export function reconcileDetails(summary: ReconcileSummary): string {
  const { open, running, compared, repairs } = summary;
  const counts = [
    [summary.restarted, 'workflows restarted'],
    [summary.closed, 'closed, because an operator had ended their workflow'],
    [summary.refreshed, 'workflows notified to read their record again'],
    [summary.noted, 'noted with a network that is not configured anymore, or is again'],
    [summary.postponed, 'workflows restarted too often: find out why they end'],
    [summary.failed, 'repairs failed; the next pass retries them'],
  ] as const;
  const done = counts.filter(([count]) => count > 0).map(([count, what]) => `- ${count} ${what}`);
  const listedRepairs = repairs.length > 0 ? ['', ...repairs.map((repair) => `- ${repair}`)] : [];
  return [
    `**Compared:** ${open} open proposals and transactions with ${running} running workflows by count, ${compared} one by one.`,
    '',
    ...(done.length === 0 ? ['Nothing to repair.'] : ['**Done:**', '', ...done, ...listedRepairs]),
  ].join('\n');
}
