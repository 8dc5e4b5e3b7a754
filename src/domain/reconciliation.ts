import { isExpired, type ProposalAction, type ProposalRecord, type ResourceType } from './proposal';

/** A record that has a workflow of its own. */
export type RecordRef = { readonly organizationId: string; readonly id: string } & (
  | { readonly kind: 'proposal'; readonly resourceType: ResourceType; readonly action: ProposalAction }
  | { readonly kind: 'transaction' }
);

/** The kinds of record that have workflows. */
export const RECORD_KINDS = ['proposal', 'transaction'] as const satisfies readonly RecordRef['kind'][];

/** How a workflow can have ended. */
export const ENDED = ['completed', 'failed', 'timedOut', 'terminated', 'cancelled'] as const;

/** How the workflow of an open record was found. */
export type WorkflowFound = { readonly status: 'running' } | WorkflowGone;

/** How it was found when it did not run. */
export type WorkflowGone =
  | { readonly status: 'missing' }
  | {
      readonly status: (typeof ENDED)[number];
      readonly runId: string;
      /** Somebody ended it, rather than the service or the Temporal server. */
      readonly byOperator: boolean;
      /** What whoever ended it gave as the reason; empty when nothing. */
      readonly reason: string;
    };

/** In words, after "its workflow". */
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

/** What decides whether a record goes on. Only a proposal can be applied. */
export interface Repairable extends Pick<ProposalRecord, 'closed' | 'executionStatus' | 'expiresAt'> {
  readonly votes: readonly unknown[];
  readonly applied?: boolean;
}

/**
 * What becomes of an open record whose workflow is not there any more. An operator who ends one that nobody has
 * signed closes it; whatever is signed or begun goes on from its record.
 */
export function repairOf(record: Repairable, time: Date, found: WorkflowFound): 'close' | 'restart' | null {
  if (record.closed || found.status === 'running') return null;
  const ended = found.status === 'terminated' || found.status === 'cancelled';
  const untouched = record.votes.length === 0 && record.executionStatus === null && record.applied !== true;
  return ended && found.byOperator && untouched && !isExpired(record, time) ? 'close' : 'restart';
}

/** What one pass of the reconciler found and did. Counts are of records: proposals and transactions. */
export interface ReconcileSummary {
  readonly open: number;
  /** Workflows that run, by Temporal's list or count. */
  readonly running: number;
  /** They were compared one by one; else their numbers were, and they agree. */
  readonly listed: boolean;
  /** Workflows that were started again. */
  readonly restarted: number;
  /** Records closed because an operator had ended their workflow. */
  readonly closed: number;
  /** Workflows told to read their record again. */
  readonly refreshed: number;
  /** Records that were told of a network that is gone. */
  readonly noted: number;
  /** Workflows that have been started again too often of late, and are not for now. */
  readonly postponed: number;
  /** Repairs that did not succeed; the next pass tries them again. */
  readonly failed: number;
  /** Networks whose chains are to be looked at; absent in what was recorded before there were transactions. */
  readonly networkIds?: readonly number[];
  /** What was done, in words, the first ones only. */
  readonly repairs: readonly string[];
}

/** How many repairs a summary tells one by one. */
export const MAX_TOLD_REPAIRS = 50;

/** What an operator reads in the Temporal UI (Markdown). */
export function reconcileDetails(summary: ReconcileSummary): string {
  const { open, running, listed, repairs } = summary;
  const counts = [
    [summary.restarted, 'workflows started again'],
    [summary.closed, 'closed, because an operator had ended their workflow'],
    [summary.refreshed, 'workflows told to read their record again'],
    [summary.noted, 'told of a network that is gone'],
    [summary.postponed, 'workflows started again too often of late: look at how they end'],
    [summary.failed, 'repairs that did not succeed; the next pass tries them again'],
  ] as const;
  const done = counts.filter(([count]) => count > 0).map(([count, what]) => `- ${count} ${what}`);
  const told = repairs.length > 0 ? ['', ...repairs.map((repair) => `- ${repair}`)] : [];
  return [
    `**Compared:** ${open} open proposals and transactions with ${running} running workflows, ${listed ? 'one by one' : 'by their number'}.`,
    '',
    ...(done.length === 0 ? ['Nothing was to be done.'] : ['**Done:**', '', ...done, ...told]),
  ].join('\n');
}
