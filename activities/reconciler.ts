import { Context } from '@temporalio/activity';
import type { Db } from '../src/db/database';
import {
  hasBegun,
  noteGoneNetworks,
  type OpenRecord,
  readRepairable,
  restoredLastHour,
} from '../src/db/reconciler';
import { closeRecord } from '../src/db/recordClosing';
import {
  foundText,
  MAX_TOLD_REPAIRS,
  type ReconcileSummary,
  repairOf,
  type WorkflowGone,
} from '../src/domain/reconciliation';
import type { Logger } from '../src/logging';
import { compare, countsAgree } from '../src/reconciler/compare';
import { refreshWorkflow, type WorkflowSender } from '../src/temporal/client';
import { recordWorkflowId, refreshRecord, restartRecord } from '../src/temporal/records';
import { findWorkflow } from '../src/temporal/runs';
import { forEachAtOnce } from './atOnce';
import type { TransactionRef } from './transactions';

/** A kind of repair, as it is counted. */
export type Repair = 'restarted' | 'closed' | 'refreshed' | 'noted' | 'postponed' | 'failed';

/** What the reconciler needs from outside. */
export interface ReconcilerDeps {
  readonly db: Db;
  readonly sender: WorkflowSender;
  readonly networkIds: readonly number[];
  readonly logger: Logger;
  readonly countRepair: (repair: Repair) => void;
}

/** How many repairs are under way at once: what else the service does goes on. */
const AT_ONCE = 16;
/** After so many failures the part that they need is away, and the pass is broken off. */
const MAX_FAILURES = 20;
/** A workflow that ends again and again would fill the audit log. */
const MAX_RESTARTS_PER_HOUR = 10;
/** How long a pass waits for a workflow that it has started; the workflow goes on in any case. */
const FIRST_ACT_LIMIT_MS = 10_000;
const FIRST_ACT_LOOK_MS = 50;
/**
 * As often the whole list is read although the counts agree: two differences can hide one another, and none is to
 * stay for longer than a minute.
 */
const LIST_EVERY_MS = 40_000;
const HEARTBEAT_MS = 1_000;
/** A workflow takes some thousands of signals in its life: one that does not move is told less and less often. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** Makes records and workflows agree again. One pass can be broken off, repeated, and run beside another. */
export function createReconcilerActivities(deps: ReconcilerDeps) {
  const { db, sender, logger, countRepair } = deps;
  /** The workflows that did not move in the last pass, and how long each is left alone. */
  let told = new Map<string, { readonly atMs: number; readonly pauseMs: number }>();

  /** When Temporal's list was last read whole. */
  let listedAtMs = Number.NEGATIVE_INFINITY;

  /** One pass over everything that is open. */
  async function reconcile(): Promise<ReconcileSummary> {
    const { cancellationSignal, heartbeat } = Context.current();
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    const counts: { [repair in Repair]: number } = {
      restarted: 0,
      closed: 0,
      refreshed: 0,
      noted: 0,
      postponed: 0,
      failed: 0,
    };
    const repairs: string[] = [];

    function done(repair: Repair, id: string, what: string, fields: object = {}): void {
      counts[repair] += 1;
      countRepair(repair);
      logger.warn({ resourceId: id, repair, ...fields }, what);
      if (repairs.length < MAX_TOLD_REPAIRS) repairs.push(`${id}: ${what}`);
    }

    /** One repair. What fails is left for the next pass, unless everything fails. */
    async function attempt(id: string, work: () => Promise<void>): Promise<void> {
      cancellationSignal.throwIfAborted();
      try {
        await work();
      } catch (error) {
        done('failed', id, `could not be repaired: ${(error as Error).message}`, { err: error });
        if (counts.failed >= MAX_FAILURES) throw error;
      }
    }

    /** Waits for the first act of a run, so that no more wait in line than are worked on and the API keeps its turn. */
    async function begun(record: OpenRecord, runId: string): Promise<void> {
      const end = performance.now() + FIRST_ACT_LIMIT_MS;
      while (performance.now() < end && !cancellationSignal.aborted) {
        if (await hasBegun(db, record, runId)) return;
        await new Promise((resolve) => setTimeout(resolve, FIRST_ACT_LOOK_MS));
      }
    }

    async function restart(record: OpenRecord, found: WorkflowGone): Promise<void> {
      const { id, organizationId } = record;
      if ((await restoredLastHour(db, record)) >= MAX_RESTARTS_PER_HOUR) {
        const what = `its workflow ${foundText(found)}, and was started again ${MAX_RESTARTS_PER_HOUR} times in the last hour; it is tried again later`;
        return done('postponed', id, what, { organizationId, found });
      }
      await begun(record, await restartRecord(sender, record, found));
      done('restarted', id, `its workflow ${foundText(found)} and was started again`, {
        organizationId,
        found,
      });
    }

    async function repair(open: OpenRecord): Promise<void> {
      const found = await findWorkflow(sender, recordWorkflowId(open));
      if (found.status === 'running') return;
      const seen = await readRepairable(db, open);
      if (!seen) return;
      const wanted = repairOf(seen.record, seen.time, found);
      if (wanted === null) return;
      const reason = `its workflow ${foundText(found)}`;
      if (wanted === 'restart') return restart(open, found);
      const closed = await closeRecord(db, open, {
        reason,
        details: { found: { ...found } },
        mayClose: (locked, time) => repairOf(locked, time, found) === 'close',
      });
      // Where something came between, the next pass sees what.
      const { id, organizationId } = open;
      if (closed) done('closed', id, `${reason}, so it was closed`, { organizationId, found });
    }

    const next: typeof told = new Map();
    function isDue(key: string): boolean {
      const last = told.get(key);
      const nowMs = performance.now();
      if (last && nowMs - last.atMs < last.pauseMs) {
        next.set(key, last);
        return false;
      }
      const pauseMs = last ? Math.min(last.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      next.set(key, { atMs: nowMs, pauseMs });
      return true;
    }

    try {
      const onStep = () => cancellationSignal.throwIfAborted();
      const isListDue = performance.now() - listedAtMs >= LIST_EVERY_MS;
      const unlisted = !isListDue && (await countsAgree(deps));
      const different = await compare(deps, { onStep, unlisted });
      if (!unlisted) listedAtMs = performance.now();
      await forEachAtOnce(AT_ONCE, different.suspects, (record) => attempt(record.id, () => repair(record)));
      await forEachAtOnce(AT_ONCE, different.networkGone, (record) =>
        attempt(record.id, async () => {
          if (!(await noteGoneNetworks(db, record))) return;
          await refreshRecord(sender, record);
          done('noted', record.id, `it names networks that are gone: ${record.goneNetworks.join(', ')}`);
        }),
      );
      await forEachAtOnce(
        AT_ONCE,
        different.still.filter(({ id }) => isDue(id)),
        (record) =>
          attempt(record.id, async () => {
            await refreshRecord(sender, record);
            const seconds = Math.round(record.unchangedMs / 1_000);
            done(
              'refreshed',
              record.id,
              `its execution has stood still for ${seconds} s; its workflow was told to look again`,
            );
          }),
      );
      await forEachAtOnce(
        AT_ONCE,
        different.leftOver.filter((workflowId) => isDue(workflowId)),
        (workflowId) =>
          attempt(workflowId, async () => {
            await refreshWorkflow(sender, workflowId);
            done('refreshed', workflowId, 'it is closed and its workflow was running; the workflow was told');
          }),
      );
      told = next;
      return {
        ...{ open: different.open, running: different.running, listed: !unlisted },
        ...counts,
        networkIds: deps.networkIds,
        repairs,
      };
    } finally {
      clearInterval(beat);
    }
  }

  /** Lets the workflows of transactions that were reopened go on: those that run read again, the others are started. */
  async function wakeReopened(transactions: readonly TransactionRef[]): Promise<void> {
    await forEachAtOnce(AT_ONCE, transactions, async ({ organizationId, transactionId }) => {
      const record = { kind: 'transaction', organizationId, id: transactionId } as const;
      const found = await findWorkflow(sender, recordWorkflowId(record));
      if (found.status === 'running') await refreshRecord(sender, record);
      else await restartRecord(sender, record, found);
    });
  }

  return { reconcile, wakeReopened };
}

/** The reconciler, as its workflow sees it. */
export type ReconcilerActivities = ReturnType<typeof createReconcilerActivities>;
