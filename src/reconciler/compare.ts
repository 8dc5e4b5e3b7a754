import type { Db } from '../db/database';
import { closedFor, countOpenApprovals, type OpenApproval, openApprovals } from '../db/reconciler';
import type { WorkflowSender } from '../temporal/client';
import { approvalWorkflowId } from '../temporal/ids';
import { countRunning, listRunning } from '../temporal/runs';

/** Temporal's list may lag by some seconds: younger approvals are skipped. */
const YOUNG_MS = 10_000;
/** How long an execution may stay unchanged before its workflow is notified. */
const STILL_MS = 30_000;
const IDS_AT_ONCE = 1_000;

/** What is compared: the approvals, and the workflows of the installation that the sender belongs to. */
export interface Compared {
  readonly db: Db;
  readonly sender: WorkflowSender;
  /** The networks that are configured. */
  readonly networkIds: readonly number[];
}

/** The differences between approvals and Temporal's list, and what else needs attention. */
export interface Differences {
  readonly open: number;
  readonly running: number;
  /** Open, and not listed as running. The list may lag: only `findWorkflow` is exact. */
  readonly suspects: readonly OpenApproval[];
  /** Processing, without a recent change of the record. */
  readonly still: readonly OpenApproval[];
  /** They refer to networks that are no longer configured, and have no note about it. */
  readonly networkGone: readonly OpenApproval[];
  /** Ids of workflows that run although their approval is closed. */
  readonly leftOver: readonly string[];
}

/** True when as many workflows run as approvals are open. Listing thousands takes seconds, counting does not. */
export async function countsAgree({ db, sender }: Pick<Compared, 'db' | 'sender'>): Promise<boolean> {
  const { count, before } = await countOpenApprovals(db, YOUNG_MS);
  return (await countRunning(sender, before)) === count;
}

function isStill({ processing, unchangedMs }: OpenApproval): boolean {
  return processing && unchangedMs >= STILL_MS;
}

/** Those of the workflows that run whose approval is closed. `onStep` is called at every step. */
async function leftOverOf(db: Db, running: Iterable<string>, onStep: () => void): Promise<readonly string[]> {
  const workflowIds = new Map([...running].map((workflowId) => [workflowId.split('/').at(-1), workflowId]));
  const recordIds = [...workflowIds.keys()].filter((id) => id !== undefined);
  const leftOver: string[] = [];
  for (let start = 0; start < recordIds.length; start += IDS_AT_ONCE) {
    onStep();
    const closed = await closedFor(db, recordIds.slice(start, start + IDS_AT_ONCE), YOUNG_MS);
    leftOver.push(...closed.flatMap((id) => workflowIds.get(id) ?? []));
  }
  return leftOver;
}

/**
 * Compares every open approval with the workflows that run. Changes nothing. `onStep` is called at every step. With
 * `unlisted`, Temporal's list is not read, and every open approval is taken to have its workflow.
 */
export async function compare(
  { db, sender, networkIds }: Compared,
  { onStep = () => undefined, unlisted = false }: { onStep?: () => void; unlisted?: boolean } = {},
): Promise<Differences> {
  const unmatched = unlisted ? new Set<string>() : await listRunning(sender, onStep);
  const running = unmatched.size;
  let open = 0;
  const suspects: OpenApproval[] = [];
  const still: OpenApproval[] = [];
  const networkGone: OpenApproval[] = [];
  for await (const page of openApprovals(db, networkIds)) {
    onStep();
    open += page.length;
    const listed = new Set(page.filter((record) => unlisted || unmatched.delete(approvalWorkflowId(record))));
    suspects.push(...page.filter((record) => !listed.has(record) && record.ageMs >= YOUNG_MS));
    still.push(...page.filter((record) => listed.has(record) && isStill(record)));
    networkGone.push(...page.filter(({ goneNetworks }) => goneNetworks.length > 0));
  }
  const leftOver = await leftOverOf(db, unmatched, onStep);
  return { open, running: unlisted ? open : running, suspects, still, networkGone, leftOver };
}
