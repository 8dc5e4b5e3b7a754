import type { Db } from '../db/database';
import {
  closedOrLost,
  type OpenRange,
  openRanges,
  type StalledApproval,
  stalledApprovals,
} from '../db/reconciler';
import { ANY_EXPIRY, type ExpiryRange } from '../domain/reconciliation';
import { mapLimit } from '../mapLimit';
import type { WorkflowSender } from '../temporal/client';
import { approvalWorkflowId } from '../temporal/ids';
import { countRunning, listRunning, type Running } from '../temporal/runs';
import { type OpenApproval, openApprovals } from './openApprovals';

/** Temporal's list may lag by some seconds: younger approvals are skipped. */
const YOUNG_MS = 10_000;
/** How long an execution may stay unchanged before its workflow is notified. */
const STALLED_MS = 30_000;
/** How many approvals are listed in turn, and of how many such parts a range is counted at once. */
const PART_SIZE = 500;
const PARTS_COUNTED = 4;
const COUNTS_AT_ONCE = 4;

/** What is compared: the approvals, and the workflows of the installation that the sender belongs to. */
interface Compared {
  readonly db: Db;
  readonly sender: WorkflowSender;
  /** The networks that are configured. */
  readonly networkIds: readonly number[];
}

/** The open approvals and the running workflows that expire within a range, counted. */
export interface CountedRange extends OpenRange {
  readonly running: number;
  /** What it consists of, to be compared a part at a time. */
  readonly parts: readonly ExpiryRange[];
}

/** Joins some ranges that follow each other. */
function joined(parts: readonly OpenRange[]): OpenRange {
  const [first = ANY_EXPIRY, last = first] = [parts[0], parts.at(-1)];
  return { from: first.from, to: last.to, open: parts.reduce((sum, { open }) => sum + open, 0) };
}

/** The differences between approvals and Temporal's list, and what else needs attention. */
export interface Differences {
  /** How many approvals were compared one by one. */
  readonly compared: number;
  /** Open, and not listed as running. The list may lag: only `findWorkflow` is exact. */
  readonly missingWorkflow: readonly OpenApproval[];
  /** Processing, without a recent change of the record. */
  readonly stalled: readonly StalledApproval[];
  /** They refer to networks that are no longer configured, and have no note about it. */
  readonly networksChanged: readonly OpenApproval[];
  /** Open, and their workflow has last known another execution status: Postgres has lost what it knows, or it has missed a change. */
  readonly diverged: readonly OpenApproval[];
  /** Ids of workflows that run although their approval is closed, or Postgres has lost it. */
  readonly orphaned: readonly string[];
}

/** Counts what is open and what runs. Where the numbers of a range differ, `compare` finds what is wrong. */
export async function countRanges(
  { db, sender }: Pick<Compared, 'db' | 'sender'>,
  onStep: () => void = () => undefined,
): Promise<CountedRange[]> {
  const { ranges, before } = await openRanges(db, { size: PART_SIZE, milliseconds: YOUNG_MS });
  const counted: CountedRange[] = [];
  for (let start = 0; start < ranges.length; start += PARTS_COUNTED) {
    const parts = ranges.slice(start, start + PARTS_COUNTED);
    counted.push({ ...joined(parts), parts, running: 0 });
  }
  await mapLimit(COUNTS_AT_ONCE, [...counted.keys()], async (index) => {
    onStep();
    const range = counted[index];
    if (range) counted[index] = { ...range, running: await countRunning(sender, range, before) };
  });
  return counted;
}

/** True where as many workflows run as approvals are open. */
export function countsAgree({ open, running }: CountedRange): boolean {
  return open === running;
}

/**
 * What a pass compares one by one: the ranges whose counts differ, and one more part in rotation, because two differences
 * can hide one another. `pass` is the number of the pass.
 */
export function rangesDue(ranges: readonly CountedRange[], pass: number): ExpiryRange[] {
  const parts = ranges.flatMap((range) => range.parts.map((part) => ({ part, range })));
  const rotated = parts[pass % parts.length];
  const differing = ranges.filter((range) => !countsAgree(range));
  return rotated && countsAgree(rotated.range) ? [...differing, rotated.part] : differing;
}

/** Those of the workflows that run whose approval is closed or lost. A young one may still be creating it. */
async function orphansOf(db: Db, running: ReadonlyMap<string, Running>): Promise<readonly string[]> {
  if (running.size === 0) return [];
  const found = [...running].map(([workflowId, { startedAt }]) => ({
    id: workflowId.split('/').at(-1) ?? '',
    workflowId,
    startedAt,
  }));
  const over = new Set(await closedOrLost(db, found, YOUNG_MS));
  return found.flatMap(({ id, workflowId }) => (over.has(id) ? [workflowId] : []));
}

/** Whether a workflow has last known another execution status than its record has had for a while. */
function hasDiverged({ executionStatus, unchangedMs }: OpenApproval, { executionState }: Running): boolean {
  return unchangedMs >= YOUNG_MS && executionState !== (executionStatus ?? 'none');
}

/**
 * Compares the open approvals of some ranges with the workflows that run, one by one. Changes nothing. `onStep` is
 * called at every step.
 */
export async function compare(
  { db, sender, networkIds }: Compared,
  ranges: readonly ExpiryRange[],
  onStep: () => void = () => undefined,
): Promise<Differences> {
  let compared = 0;
  const missingWorkflow: OpenApproval[] = [];
  const networksChanged: OpenApproval[] = [];
  const diverged: OpenApproval[] = [];
  const orphaned: string[] = [];
  for (const range of ranges) {
    const running = await listRunning(sender, range, onStep);
    const unmatched = new Map(running);
    for await (const page of openApprovals(db, networkIds, range)) {
      onStep();
      compared += page.length;
      const unlisted = page.filter((record) => !unmatched.delete(approvalWorkflowId(record)));
      missingWorkflow.push(...unlisted.filter(({ ageMs }) => ageMs >= YOUNG_MS));
      diverged.push(
        ...page.filter((record) => {
          const workflow = running.get(approvalWorkflowId(record));
          return workflow && hasDiverged(record, workflow);
        }),
      );
      networksChanged.push(...page.filter(({ changedNetworks }) => changedNetworks.length > 0));
    }
    orphaned.push(...(await orphansOf(db, unmatched)));
  }
  const found = new Set([...missingWorkflow, ...diverged].map(({ id }) => id));
  const stalled = (await stalledApprovals(db, STALLED_MS)).filter(({ id }) => !found.has(id));
  return { compared, missingWorkflow, stalled, networksChanged, diverged, orphaned };
}
