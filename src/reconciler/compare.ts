import type { Db } from '../db/database';
import { closedFor, countOpenRecords, type OpenRecord, openRecords } from '../db/reconciler';
import type { WorkflowSender } from '../temporal/client';
import { recordWorkflowId } from '../temporal/records';
import { countRunning, listRunning } from '../temporal/runs';

/** Temporal's list may be behind by some seconds: what is younger is left alone. */
const YOUNG_MS = 10_000;
/** How long the record of an execution may stand still before its workflow is asked to look again. */
const STILL_MS = 30_000;
const IDS_AT_ONCE = 1_000;

/** What is compared: the records, and the workflows of the deployment that the sender belongs to. */
export interface Compared {
  readonly db: Db;
  readonly sender: WorkflowSender;
  /** The networks that the deployment has. */
  readonly networkIds: readonly number[];
}

/** Where the records and Temporal's list differ, and what else asks for a look. */
export interface Differences {
  readonly open: number;
  readonly running: number;
  /** Open, and not listed as running. The list may be behind: only `findWorkflow` says what is so. */
  readonly suspects: readonly OpenRecord[];
  /** Being executed, without a change of the record for a while. */
  readonly still: readonly OpenRecord[];
  /** They name networks that are gone, and nothing says so. */
  readonly networkGone: readonly OpenRecord[];
  /** Ids of workflows that run although their record is closed. */
  readonly leftOver: readonly string[];
}

/** True when as many workflows run as records are open. A list of thousands takes seconds, a count does not. */
export async function countsAgree({ db, sender }: Pick<Compared, 'db' | 'sender'>): Promise<boolean> {
  const { count, before } = await countOpenRecords(db, YOUNG_MS);
  return (await countRunning(sender, before)) === count;
}

/**
 * Compares every open record with the workflows that run. Changes nothing. `onStep` is called all along. With
 * `unlisted`, Temporal's list is not asked for, and every open record is taken to have its workflow.
 */
export async function compare(
  { db, sender, networkIds }: Compared,
  { onStep = () => undefined, unlisted = false }: { onStep?: () => void; unlisted?: boolean } = {},
): Promise<Differences> {
  const unmatched = unlisted ? new Set<string>() : await listRunning(sender, onStep);
  const running = unmatched.size;
  let open = 0;
  const suspects: OpenRecord[] = [];
  const still: OpenRecord[] = [];
  const networkGone: OpenRecord[] = [];
  for await (const page of openRecords(db, networkIds)) {
    onStep();
    open += page.length;
    for (const record of page) {
      const listed = unlisted || unmatched.delete(recordWorkflowId(record));
      if (!listed && record.ageMs >= YOUNG_MS) suspects.push(record);
      if (listed && record.processing && record.unchangedMs >= STILL_MS) still.push(record);
      if (record.goneNetworks.length > 0) networkGone.push(record);
    }
  }
  const workflowIds = new Map([...unmatched].map((workflowId) => [workflowId.split('/').at(-1), workflowId]));
  const recordIds = [...workflowIds.keys()].filter((id) => id !== undefined);
  const leftOver: string[] = [];
  for (let start = 0; start < recordIds.length; start += IDS_AT_ONCE) {
    onStep();
    const closed = await closedFor(db, recordIds.slice(start, start + IDS_AT_ONCE), YOUNG_MS);
    leftOver.push(...closed.flatMap((id) => workflowIds.get(id) ?? []));
  }
  return { open, running: unlisted ? open : running, suspects, still, networkGone, leftOver };
}
