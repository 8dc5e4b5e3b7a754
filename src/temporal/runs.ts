import { WorkflowNotFoundError } from '@temporalio/client';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes';
import type { temporal } from '@temporalio/proto';
import type { ExpiryRange, WorkflowFound } from '../domain/reconciliation';
import { APPROVAL_WORKFLOWS } from './approvalMessages';
import type { WorkflowSender } from './client';
import { DELIVERY_WORKFLOW } from './deliveryMessages';
import { NOT_FOUND } from './grpcStatus';
import { searchAttributes } from './searchAttributes';

/** Maximum page size of the server. */
const PAGE = 1_000;
const MAX_REASON_LENGTH = 500;
/** The identity under which the server itself ends a workflow, when it is deleted or too large. */
const SERVER_IDENTITY = 'history-service';
/** The identity under which the reconciler ends a workflow, to have it restarted. */
export const RECONCILER_IDENTITY = 'orgwallet-reconciler';
const NO_OPERATORS: readonly (string | null | undefined)[] = [SERVER_IDENTITY, RECONCILER_IDENTITY];
/** Enough to include the cancellation request, which is a few events before the end. */
const LAST_EVENTS = 50;

const APPROVAL_TYPES = Object.values(APPROVAL_WORKFLOWS);

/** The search attribute is written by the first activity of a workflow: one without it is in the first range. */
function expiresWithin({ from, to }: ExpiryRange): string[] {
  const name = searchAttributes.expiresAt.name;
  if (from) {
    const starts = `${name} >= '${from.toISOString()}'`;
    return to ? [starts, `${name} < '${to.toISOString()}'`] : [starts];
  }
  return to ? [`(${name} < '${to.toISOString()}' OR ${name} IS NULL)`] : [];
}

function queryOf(
  { queues }: WorkflowSender,
  types: readonly string[],
  conditions: readonly string[],
): string {
  return [
    `WorkflowType IN (${types.map((type) => `'${type}'`).join(', ')})`,
    `ExecutionStatus = 'Running'`,
    `TaskQueue = '${queues.workflows}'`,
    ...conditions,
  ].join(' AND ');
}

/** The query for the workflows of approvals that run on this installation's task queue and meet more conditions. */
export function runningQuery(sender: WorkflowSender, conditions: readonly string[] = []): string {
  return queryOf(sender, APPROVAL_TYPES, conditions);
}

/**
 * How many workflows of approvals that expire within a range run on this installation's task queue and were started
 * before a time.
 */
export async function countRunning(
  sender: WorkflowSender,
  range: ExpiryRange,
  before: Date,
): Promise<number> {
  const { client, deadlineMs } = sender;
  const { count } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.countWorkflowExecutions({
      namespace: client.options.namespace,
      query: `${runningQuery(sender, expiresWithin(range))} AND StartTime < '${before.toISOString()}'`,
    }),
  );
  return Number(count);
}

type ListedWorkflow = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** A workflow that runs, as Temporal's list has it. */
export interface Running {
  readonly startedAt: Date;
  /** The execution status that it has adopted last, or `none`; undefined before the first. */
  readonly executionState: string | undefined;
}

/** What Temporal's list has for a query, page after page. `onPage` is called after every page. */
async function* listed(
  { client, deadlineMs }: WorkflowSender,
  query: string,
  onPage: () => void,
): AsyncGenerator<ListedWorkflow> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query,
        pageSize: PAGE,
        ...(nextPageToken ? { nextPageToken } : {}),
      }),
    );
    yield* page.executions ?? [];
    nextPageToken = page.nextPageToken;
    onPage();
  } while (nextPageToken && nextPageToken.length > 0);
}

/**
 * The workflows of approvals that expire within a range and run on this installation's task queue, by their ids, by
 * Temporal's list, which may lag by some seconds. `onPage` is called after every page.
 */
export async function listRunning(
  sender: WorkflowSender,
  range: ExpiryRange,
  onPage: () => void,
): Promise<Map<string, Running>> {
  const running = new Map<string, Running>();
  const query = runningQuery(sender, expiresWithin(range));
  for await (const { execution, startTime, searchAttributes: attributes } of listed(sender, query, onPage)) {
    if (!execution?.workflowId) continue;
    const executionState = decodeTypedSearchAttributes(attributes?.indexedFields).get(
      searchAttributes.executionState,
    );
    running.set(execution.workflowId, {
      startedAt: new Date(Number(startTime?.seconds) * 1_000),
      executionState,
    });
  }
  return running;
}

/** The ids of the workflows of destinations that run on this installation's task queue. `onPage` is called after every page. */
export async function listRunningDeliveries(sender: WorkflowSender, onPage: () => void): Promise<string[]> {
  const ids: string[] = [];
  for await (const { execution } of listed(sender, queryOf(sender, [DELIVERY_WORKFLOW], []), onPage)) {
    if (execution?.workflowId) ids.push(execution.workflowId);
  }
  return ids;
}

/** User input as one line that can be stored and shown. */
function oneLine(text: string | null | undefined): string {
  const line = (text ?? '').replace(/[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029\s]+/gu, ' ').trim();
  return [...line].slice(0, MAX_REASON_LENGTH).join('');
}

/** Who ended a run that was terminated or cancelled, and the reason that was given. */
async function whoEnded(
  { client, deadlineMs }: WorkflowSender,
  execution: { workflowId: string; runId: string },
): Promise<{ byOperator: boolean; reason: string }> {
  const { history } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: LAST_EVENTS,
    }),
  );
  for (const event of history?.events ?? []) {
    const terminated = event.workflowExecutionTerminatedEventAttributes;
    if (terminated) {
      return { byOperator: !NO_OPERATORS.includes(terminated.identity), reason: oneLine(terminated.reason) };
    }
    const requested = event.workflowExecutionCancelRequestedEventAttributes;
    if (requested) return { byOperator: true, reason: oneLine(requested.cause) };
  }
  return { byOperator: true, reason: '' };
}

/** The status of a workflow, from its description in Temporal. */
export async function findWorkflow(sender: WorkflowSender, workflowId: string): Promise<WorkflowFound> {
  const { client, deadlineMs } = sender;
  try {
    const { status, runId } = await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    const byItself = { runId, byOperator: false, reason: '' };
    switch (status.name) {
      case 'COMPLETED':
        return { status: 'completed', ...byItself };
      case 'FAILED':
        return { status: 'failed', ...byItself };
      case 'TIMED_OUT':
        return { status: 'timedOut', ...byItself };
      case 'TERMINATED':
        return { status: 'terminated', runId, ...(await whoEnded(sender, { workflowId, runId })) };
      case 'CANCELLED':
        return { status: 'cancelled', runId, ...(await whoEnded(sender, { workflowId, runId })) };
      default:
        // Includes any status of a later server: only a workflow that is known to have ended is repaired.
        return { status: 'running' };
    }
  } catch (error) {
    // It may be deleted between two calls.
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return { status: 'missing' };
    throw error;
  }
}

/** Whether Temporal does not know what was asked for. */
export function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === NOT_FOUND;
}
