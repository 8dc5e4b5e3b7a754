import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { createDatabase, type Db } from '../../src/db/database';
import { migrate } from '../../src/db/migrate';
import { mapLimit } from '../../src/mapLimit';
import {
  type CountedRange,
  compare,
  countRanges,
  countsAgree,
  rangesDue,
} from '../../src/reconciler/compare';
import { APPROVAL_WORKFLOWS, startOptions } from '../../src/temporal/approvalMessages';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { registerSearchAttributes } from '../../src/temporal/registeredAttributes';
import { searchAttributes } from '../../src/temporal/searchAttributes';
import type { Part } from '../../tools/dev/parts';
import { freePorts } from '../../tools/dev/ports';
import { ensureDatabase, startPostgres } from '../../tools/dev/postgres';
import { findTemporalBinary } from '../../tools/dev/temporalBinary';
import { startTemporal } from '../../tools/dev/temporalServer';
import { sampleOf } from './figures';
import { processorMs } from './processor';

const PASSES = 5;
const STARTED_AT_ONCE = 50;
const LISTED_LIMIT_MS = 600_000;
const LOOK_MS = 1_000;
const FIRST_EXPIRY_MS = Date.UTC(2100, 0, 1);
const ORGANIZATION = 'org_bench';

const idOf = (number: number) => `txn_bench${String(number).padStart(16, '0')}`;
const expiryOf = (number: number) => new Date(FIRST_EXPIRY_MS + number * 1_000);

/** Stores open transactions that were created an hour ago and expire one after the other. */
async function insertApprovals(db: Db, count: number): Promise<void> {
  await db.raw(
    `INSERT INTO organizations (id, name, domain_salt, signing_key) VALUES (?, 'Bench', '0x', '0x')`,
    [ORGANIZATION],
  );
  await db.raw(
    `INSERT INTO approvals (id, subject, organization_id, summary, names, created_at, updated_at, expires_at, position)
      SELECT 'txn_bench' || lpad(n::text, 16, '0'), 'transaction', ?, 'Send 1', '{network:31337}',
        now() - interval '1 hour', now() - interval '1 hour', ?::timestamptz + n * interval '1 second', n
      FROM generate_series(0, ?::integer - 1) AS n`,
    [ORGANIZATION, new Date(FIRST_EXPIRY_MS), count],
  );
  await db.raw('VACUUM ANALYZE approvals');
}

/** Starts their workflows, which no worker runs: they wait for ever. */
async function startWorkflows({ client, queues }: WorkflowSender, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  await mapLimit(STARTED_AT_ONCE, numbers, async (number) => {
    const ref = { subject: 'transaction', organizationId: ORGANIZATION, id: idOf(number) } as const;
    await client.workflow.start(APPROVAL_WORKFLOWS.transaction, {
      ...startOptions(queues, ref, {}),
      typedSearchAttributes: new TypedSearchAttributes([
        { key: searchAttributes.expiresAt, value: expiryOf(number) },
      ]),
    });
  });
}

interface Measured {
  readonly sender: WorkflowSender;
  readonly db: Db;
  readonly postgres: Part;
  readonly temporal: Part;
}

/** One pass as the reconciler makes it when all is well: it counts everything, and compares one range. */
async function pass({ db, sender }: Measured, turn: number): Promise<CountedRange[]> {
  const ranges = await countRanges({ db, sender });
  const { missingWorkflow, orphaned } = await compare(
    { db, sender, networkIds: [31_337] },
    rangesDue(ranges, turn),
  );
  if (missingWorkflow.length + orphaned.length > 0) throw new Error('the pass has found differences');
  return ranges;
}

async function measure(measured: Measured, count: number, say: (line: string) => void): Promise<void> {
  const { db, sender, postgres, temporal } = measured;
  await insertApprovals(db, count);
  const startedAt = performance.now();
  await startWorkflows(sender, count);
  const seconds = (performance.now() - startedAt) / 1_000;
  say(`${count} workflows started in ${seconds.toFixed(0)} s, whose transactions are open`);
  // What is young is not counted, and Temporal's list follows by and by.
  for (const end = Date.now() + LISTED_LIMIT_MS; !(await countRanges(measured)).every(countsAgree); ) {
    if (Date.now() > end) throw new Error('Temporal does not list every workflow');
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const used = () => [process.pid, postgres.pid, temporal.pid].map(processorMs);
  const before = used();
  const times: number[] = [];
  let ranges = 0;
  for (let turn = 0; turn < PASSES; turn += 1) {
    const passAt = performance.now();
    ranges = (await pass(measured, turn)).length;
    times.push(performance.now() - passAt);
  }
  const after = used();
  const [own, postgresMs, temporalMs] = after.map((ms, index) =>
    ((ms - (before[index] ?? 0)) / PASSES).toFixed(0),
  );
  const { p50, p95 } = sampleOf(times);
  say(`a pass over ${ranges} ranges: p50 ${p50.toFixed(0)} ms, longest of ${PASSES} ${p95.toFixed(0)} ms`);
  say(`processor time of a pass: ${own} ms here, Postgres ${postgresMs} ms, Temporal ${temporalMs} ms`);
}

/** `node tools/dev/run.mjs dist/test/bench/reconciler.js [count]`: what a pass of the reconciler costs. */
async function main(): Promise<void> {
  const say = (line: string) => console.log(line);
  const count = Number(process.argv[2] ?? 10_000);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`invalid count "${process.argv[2]}" (expected a positive integer)`);
  const dir = mkdtempSync(join(tmpdir(), 'orgwallet-bench-'));
  // Postgres may run as another user, who has to come through to its files.
  chmodSync(dir, 0o755);
  const [postgresPort = 0, temporalPort = 0] = await freePorts(2);
  const postgres = await startPostgres({
    dir: join(dir, 'postgres'),
    port: postgresPort,
    logFile: join(dir, 'postgres.log'),
  });
  const temporal = await startTemporal({
    binary: (await findTemporalBinary(process.env, say)).path,
    port: temporalPort,
    namespace: 'default',
    databaseFile: join(dir, 'temporal', 'state.db'),
    logFile: join(dir, 'temporal.log'),
    retentionDays: 1,
  });
  const { owner } = await ensureDatabase(postgres.adminUrl, 'orgwallet');
  await migrate(owner);
  const db = createDatabase(owner, { poolMax: 4 });
  const connection = await Connection.connect({ address: temporal.address });
  try {
    await registerSearchAttributes(connection, 'default');
    const client = new Client({ connection });
    const sender: WorkflowSender = { client, queues: taskQueues('bench'), deadlineMs: 60_000 };
    await measure({ db, sender, postgres: postgres.part, temporal: temporal.part }, count, say);
  } finally {
    await Promise.all([connection.close(), db.destroy()]);
    await Promise.all([postgres.part.stop(), temporal.part.stop()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
