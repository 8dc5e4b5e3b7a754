import type { Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { Answer } from '../support/http';
import type { TestOrganization } from '../support/service';
import {
  aTransactionBody,
  createTransaction,
  settledTransaction,
  signTransaction,
} from '../support/transactionApi';
import { makePayer, workflowOfTransaction } from '../workflows/transactionWorld';
import { expectSoundAudit, startWorld, type World } from '../workflows/world';

const NETWORK_ID = 31_337;
const EXECUTIONS = 200;
/** A workflow task that takes so long is given to another worker. */
const TASK_TIMEOUT_MS = 10_000;

interface Payer {
  readonly org: TestOrganization;
  readonly account: Shown;
  readonly policy: Shown;
}

let world: World;

beforeAll(async () => {
  world = await startWorld({});
}, 60_000);
afterAll(() => world?.stop());

/** Creates transactions of payers in turn, some at once. */
async function createAll(payers: readonly Payer[]): Promise<{ payer: Payer; transaction: Shown }[]> {
  const made: { payer: Payer; transaction: Shown }[] = [];
  let next = 0;
  const creator = async () => {
    while (next < EXECUTIONS) {
      const payer = payers[next % payers.length] as Payer;
      next += 1;
      const body = aTransactionBody(payer.org, { ...payer, to: anAddress() }, { networkId: NETWORK_ID });
      made.push({ payer, transaction: await createTransaction(world.http, payer.org, body) });
    }
  };
  await Promise.all(Array.from({ length: 4 }, creator));
  return made;
}

/** Signs and executes; where the service is full it is asked again when it says so. Returns the statuses of all answers. */
async function executeAsked({ org }: Payer, transaction: Shown): Promise<number[]> {
  const statuses: number[] = [];
  for (;;) {
    const answer: Answer = await signTransaction(world.http, org, transaction, org.dave, 'initiator', {
      execute: true,
    });
    statuses.push(answer.status);
    if (answer.status !== 429) return statuses;
    const seconds = Number(answer.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}

/** The longest workflow task of a transaction, in milliseconds, and how many of its tasks have failed or timed out. */
async function tasksOf({ org }: Payer, transaction: Shown) {
  const handle = workflowOfTransaction({ temporal: world.temporal, org }, transaction);
  const { events } = await handle.fetchHistory();
  const ms = (time: { seconds?: unknown; nanos?: number | null } | null | undefined) =>
    Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
  const begun = new Map<string, number>();
  let longestMs = 0;
  let lost = 0;
  for (const event of events ?? []) {
    if (event.workflowTaskStartedEventAttributes) begun.set(String(event.eventId), ms(event.eventTime));
    const started = event.workflowTaskCompletedEventAttributes?.startedEventId;
    if (started) longestMs = Math.max(longestMs, ms(event.eventTime) - (begun.get(String(started)) ?? 0));
    if (event.workflowTaskTimedOutEventAttributes ?? event.workflowTaskFailedEventAttributes) lost += 1;
  }
  return { longestMs, lost };
}

test.each([
  ['one organization', 1],
  ['twenty organizations', 20],
])(
  'two hundred executions of %s at once: no 5xx, each is paid once, and no workflow task is lost',
  async (_, count) => {
    const payers: Payer[] = [];
    for (let made = 0; made < count; made += 1) {
      const org = await world.createOrganization();
      payers.push({ org, ...(await makePayer(world, org, NETWORK_ID)) });
    }
    const all = await createAll(payers);
    const begunAt = Date.now();
    const statuses = await Promise.all(all.map(({ payer, transaction }) => executeAsked(payer, transaction)));
    expect(statuses.flat().filter((status) => status !== 200 && status !== 429)).toEqual([]);
    for (const { payer, transaction } of all) {
      const settled = await settledTransaction(world.http, payer.org, transaction);
      expect(settled.executionStatus).toBe('completed');
    }
    const seconds = (Date.now() - begunAt) / 1_000;
    const tasks = await Promise.all(all.map(({ payer, transaction }) => tasksOf(payer, transaction)));
    const longestMs = Math.max(...tasks.map((task) => task.longestMs));
    const refused = statuses.flat().filter((status) => status === 429).length;
    console.info(
      `${count} organizations: ${EXECUTIONS} executions in ${seconds.toFixed(1)} s, ${refused} refused with 429, longest workflow task ${Math.round(longestMs)} ms`,
    );
    expect(tasks.reduce((sum, { lost }) => sum + lost, 0)).toBe(0);
    expect(longestMs).toBeLessThan(TASK_TIMEOUT_MS);
    for (const { org } of payers) await expectSoundAudit(world.db, org);
  },
  900_000,
);
