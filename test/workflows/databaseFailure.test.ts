import { Client, Connection } from '@temporalio/client';
import { createDatabase, type Db } from '../../src/db/database';
import type { ReconcileSummary } from '../../src/domain/reconciliation';
import { createLogger } from '../../src/logging';
import { networkQueue, taskQueues } from '../../src/temporal/ids';
import { RECONCILE_WORKFLOW } from '../../src/temporal/schedule';
import { installTemporalRuntime, type RunningWorkers, startWorkers } from '../../src/workers';
import { workflowSource } from '../../src/workflowSource';
import { sharedService, type TestService } from '../support/service';
import { NOTHING_FOUND } from './world';

const VALUE = 'a-value-to-hide';

/** What an activity does with the database, and the failure that Temporal stores for it. */
const CASES: [string, (db: Db) => Promise<unknown>, { type: string; message: string }][] = [
  [
    'a value of a wrong type, which Postgres quotes',
    (db) => db.raw('SELECT ?::integer', [VALUE]),
    { type: 'Postgres 22P02', message: 'the database refuses a statement; the log has it' },
  ],
  [
    'a broken reference',
    (db) =>
      db.raw('INSERT INTO groups (id, organization_id, name, position) VALUES (?, ?, ?, 0)', [
        VALUE,
        VALUE,
        VALUE,
      ]),
    {
      type: 'Postgres 23503',
      message:
        'the database reports: insert or update on table "groups" violates foreign key constraint "groups_organization_id_fkey"',
    },
  ],
  [
    'an unknown column',
    (db) => db('members').whereRaw('missing_column = ?', [VALUE]),
    { type: 'Postgres 42703', message: 'the database refuses a statement; the log has it' },
  ],
  [
    'a missing privilege, in a transaction',
    (db) => db.transaction((tx) => tx('audit_log').delete()),
    {
      type: 'Postgres 42501',
      message: 'the database reports: permission denied for table audit_log',
    },
  ],
  [
    'a connection that ends',
    (db) => db.raw('SELECT pg_terminate_backend(pg_backend_pid()), ? AS hidden', [VALUE]),
    {
      type: 'Postgres 57P01',
      message: 'the database reports: terminating connection due to administrator command',
    },
  ],
  [
    'a database error as the cause of another error',
    async (db) => {
      try {
        await db.raw('SELECT ?::integer', [VALUE]);
      } catch (error) {
        throw new Error(`failed: ${(error as Error).message}`, { cause: new AggregateError([error]) });
      }
    },
    { type: 'Postgres 22P02', message: 'the database refuses a statement; the log has it' },
  ],
  [
    'a statement that knex refuses',
    (db) =>
      db('members')
        .where('name', VALUE)
        .where('id', undefined as unknown as string),
    { type: 'Postgres', message: 'the database refuses a statement; the log has it' },
  ],
  [
    'another error',
    async () => {
      throw new TypeError('not of the database');
    },
    { type: 'TypeError', message: 'not of the database' },
  ],
];

let service: TestService;
let workers: RunningWorkers;
let connection: Connection;
const logged: string[] = [];
/** The failures in the workflow's history, by network: each case is one. */
const failures = new Map<number, { type: unknown; message: unknown }>();
let history: string;

beforeAll(async () => {
  service = await sharedService();
  await installTemporalRuntime(createLogger('error'));
  const taskQueue = `database-failures-${process.pid}-${Date.now()}`;
  const activities = {
    reconcile: async (): Promise<ReconcileSummary> => ({ ...NOTHING_FOUND, networkIds: [...CASES.keys()] }),
    findLostTransactions: async ({ networkId }: { networkId: number }) => {
      const db = createDatabase(service.config.databaseUrl ?? '', { poolMax: 1 });
      await CASES[networkId]?.[1](db).finally(() => db.destroy());
    },
  };
  workers = startWorkers(
    service.config,
    [
      { role: 'worker', taskQueue, activities, options: workflowSource() },
      ...CASES.map((_, id) => ({
        role: 'chain' as const,
        taskQueue: networkQueue(taskQueues(taskQueue).chain, id),
        activities,
      })),
    ],
    {
      logger: createLogger('info', { write: (line: string) => void logged.push(line) }),
      fail: (error) => {
        throw error;
      },
    },
  );
  const { address, namespace } = service.config.temporal;
  connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection, namespace });
  const run = await workflow.start(RECONCILE_WORKFLOW, { workflowId: taskQueue, taskQueue });
  await run.result();
  const { events } = await run.fetchHistory();
  history = JSON.stringify(events, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
  const networks = new Map<string, number>();
  for (const { eventId, activityTaskScheduledEventAttributes: scheduled } of events ?? []) {
    const input = scheduled?.input?.payloads?.[0]?.data;
    if (input) networks.set(String(eventId), JSON.parse(Buffer.from(input).toString()).networkId);
  }
  for (const { activityTaskFailedEventAttributes: failed } of events ?? []) {
    if (!failed?.failure) continue;
    const { message, applicationFailureInfo } = failed.failure;
    failures.set(networks.get(String(failed.scheduledEventId)) ?? -1, {
      type: applicationFailureInfo?.type,
      message,
    });
  }
}, 60_000);
afterAll(async () => {
  await workers?.stop();
  await connection?.close();
  await service?.stop();
});

describe('an activity that fails with', () => {
  it.each(CASES.map(([title, , failure], networkId) => [title, networkId, failure] as const))(
    '%s',
    (_, networkId, failure) => {
      expect(failures.get(networkId)).toEqual(failure);
    },
  );
});

describe('a history with database errors', () => {
  it('has neither SQL nor values', () => {
    expect(history).toContain('findLostTransactions');
    expect(history).not.toContain(VALUE);
    expect(history).not.toMatch(/\bselect\b|\binsert into\b|\bdelete from\b|\$1/i);
  });

  it('leaves the statements to the log, which has no values either', () => {
    const errors = logged.flatMap((line) => JSON.parse(line).err ?? []);
    expect(errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Postgres 22P02', statement: 'SELECT $1::integer' }),
        expect.objectContaining({
          table: 'groups',
          constraint: 'groups_organization_id_fkey',
          statement: expect.stringContaining('INSERT INTO groups'),
        }),
        expect.objectContaining({ statement: 'delete from "audit_log"' }),
        expect.objectContaining({ name: 'Postgres', statement: expect.stringContaining('from "members"') }),
      ]),
    );
    expect(logged.filter((line) => line.includes(VALUE))).toEqual([]);
  });
});
