import { Client, Connection } from '@temporalio/client';
import { createDatabase, type Db } from '../../src/db/database';
import type { ReconcileSummary } from '../../src/domain/reconciliation';
import { compare } from '../../src/reconciler/compare';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { RECONCILE_WORKFLOW } from '../../src/temporal/schedule';
import { sampleOf } from './figures';
import { makeOrganization } from './organization';
import { type BenchStack, startBenchStack } from './stack';

const STEADY_PASSES = 5;
const INSERTED_AT_ONCE = 1_000;
const SETTLE_LIMIT_MS = 600_000;
const LOOK_MS = 500;

/** Stores open proposals that have no workflow, as after the loss of Temporal's data. */
async function insertProposals(db: Db, organizationId: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += INSERTED_AT_ONCE) {
    await db.raw(
      `INSERT INTO proposals (id, organization_id, resource_type, action, data, plan, summary, names,
          created_at, updated_at, expires_at, position, version)
        SELECT 'prop_bench' || lpad(n::text, 16, '0'), ?, 'accounts', 'create',
          jsonb_build_object('items', jsonb_build_array(jsonb_build_object(
            'name', 'Account ' || n, 'networkIds', jsonb_build_array(31337)))),
          '{}', 'Create 1 account', '{network:31337}',
          now() - interval '1 hour', now() - interval '1 hour', now() + interval '7 days', n, 1
        FROM generate_series(?::integer, ?::integer) AS n`,
      [organizationId, done + 1, Math.min(done + INSERTED_AT_ONCE, count)],
    );
  }
}

/** What the service says of itself: memory in MB, processor time in seconds. */
async function usage({ opsPort }: BenchStack): Promise<{ memory: number; processor: number }> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    memory: value('process_resident_memory_bytes') / 1_048_576,
    processor: value('process_cpu_seconds_total'),
  };
}

async function restored(db: Db): Promise<number> {
  const row = await db('audit_log').where({ action: 'proposal.restored' }).count('*', { as: 'n' }).first();
  return Number(row?.n);
}

async function measure(stack: BenchStack, count: number, say: (line: string) => void): Promise<void> {
  const db = createDatabase(stack.databaseUrl, { poolMax: 4 });
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const client = new Client({ connection });
  const queues = taskQueues('orgwallet');
  let passes = 0;
  const pass = async (): Promise<{ summary: ReconcileSummary; ms: number; activityMs: number }> => {
    passes += 1;
    const startedAt = performance.now();
    const handle = await client.workflow.start<() => Promise<ReconcileSummary>>(RECONCILE_WORKFLOW, {
      workflowId: `bench/reconcile-${passes}`,
      taskQueue: queues.workflows,
    });
    const summary = await handle.result();
    const ms = performance.now() - startedAt;
    const { events } = await handle.fetchHistory();
    const timeOf = (kind: 'activityTaskStartedEventAttributes' | 'activityTaskCompletedEventAttributes') => {
      const time = events?.find((event) => event[kind])?.eventTime;
      return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
    };
    const activityMs =
      timeOf('activityTaskCompletedEventAttributes') - timeOf('activityTaskStartedEventAttributes');
    return { summary, ms, activityMs };
  };
  try {
    const organization = await makeOrganization(stack);
    const idle = await usage(stack);
    await insertProposals(db, organization.id, count);
    say(`${count} open proposals without a workflow; one pass is to start them all`);
    const first = await pass();
    if (first.summary.restarted !== count) throw new Error(`the pass did ${JSON.stringify(first.summary)}`);
    say(
      `first pass: ${(first.ms / 1_000).toFixed(1)} s, ${((count / first.ms) * 1_000).toFixed(0)} workflows started per second`,
    );
    const end = Date.now() + SETTLE_LIMIT_MS;
    while ((await restored(db)) < count) {
      if (Date.now() > end) throw new Error('not every workflow has begun');
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    // Temporal's list follows by and by, and what is young is not counted.
    for (;;) {
      const { summary, ms } = await pass();
      if (summary.restarted !== 0 || summary.failed !== 0) throw new Error('a second pass found work');
      if (!summary.listed) break;
      say(`pass one by one: ${ms.toFixed(0)} ms`);
      if (Date.now() > end) throw new Error('Temporal does not list every workflow');
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const before = await usage(stack);
    const steady = [];
    for (let turn = 0; turn < STEADY_PASSES; turn += 1) steady.push(await pass());
    const after = await usage(stack);
    const whole = sampleOf(steady.map(({ ms }) => ms));
    const activity = sampleOf(steady.map(({ activityMs }) => activityMs));
    say(
      `steady pass: p50 ${whole.p50.toFixed(0)} ms as a workflow, of which ${activity.p50.toFixed(0)} ms comparing (longest of ${whole.n}: ${whole.p95.toFixed(0)} ms)`,
    );
    say(
      `service: ${(((after.processor - before.processor) / STEADY_PASSES) * 1_000).toFixed(0)} ms of processor per pass; memory ${idle.memory.toFixed(0)} MB idle, ${before.memory.toFixed(0)} MB with the workflows, ${after.memory.toFixed(0)} MB after the passes`,
    );

    // The same comparison in this process, with its calls counted.
    let calls = 0;
    const { workflowService } = connection;
    const list = workflowService.listWorkflowExecutions.bind(workflowService);
    Object.assign(workflowService, {
      listWorkflowExecutions: (request: Parameters<typeof list>[0]) => {
        calls += 1;
        return list(request);
      },
    });
    let statements = 0;
    db.on('query', () => {
      statements += 1;
    });
    const sender: WorkflowSender = { client, queues, deadlineMs: 10_000 };
    const heapBefore = process.memoryUsage().heapUsed;
    const startedAt = performance.now();
    let listedAt = startedAt;
    const compared = { db, sender, networkIds: [31_337, 31_338] };
    const found = await compare(compared, {
      onStep: () => {
        if (statements === 0) listedAt = performance.now();
      },
    });
    const listMs = listedAt - startedAt;
    const ms = performance.now() - startedAt;
    const heap = (process.memoryUsage().heapUsed - heapBefore) / 1_048_576;
    say(
      `a comparison one by one is ${calls} calls to Temporal (${listMs.toFixed(0)} ms) and ${statements} statements in Postgres (${(ms - listMs).toFixed(0)} ms) for ${found.open} open proposals, and takes ${heap.toFixed(0)} MB of heap`,
    );
  } finally {
    await connection.close();
    await db.destroy();
  }
}

/** `node tools/dev/run.mjs dist/test/bench/reconciler.js [count]`: what the reconciler costs. */
async function main(): Promise<void> {
  const say = (line: string) => console.log(line);
  const count = Number(process.argv[2] ?? 10_000);
  if (!Number.isInteger(count) || count < 1) throw new Error(`"${process.argv[2]}" is no count of proposals`);
  const stack = await startBenchStack(say, { RECONCILE_EVERY: '1h', LOG_LEVEL: 'error' });
  try {
    await measure(stack, count, say);
  } catch (error) {
    say(stack.serviceLog());
    throw error;
  } finally {
    await stack.stop();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
