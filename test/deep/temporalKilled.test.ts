import { Client, Connection } from '@temporalio/client';
import { requireRow } from '../../src/db/rows';
import {
  type AccountCreation,
  askOf,
  beginCreation,
  completeStep,
  finish,
  prepare,
  proposalOf,
  type Step,
} from '../chaos/accountCreation';
import { expectOneOfEverything } from '../chaos/invariants';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { startTestService, type TestOrganization, type TestService } from '../support/service';
import { startOwnTemporal } from '../support/stack';

/**
 * How long a request may take while Temporal is unavailable: the API waits 12 s for a workflow. An execution may wait as
 * long again for its outcome.
 */
const QUICK_MS = 15_000;

let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let api: TestService;
let workers: ServiceProcess;
let org: TestOrganization;
let connection: Connection;

beforeAll(async () => {
  temporal = await startOwnTemporal();
  api = await startTestService({
    env: { ORGWALLET_ROLES: 'api', TEMPORAL_ADDRESS: temporal.current.address },
  });
  workers = await startServiceProcess(api.env, { roles: ['worker', 'chain', 'signer'] });
  org = await api.createOrganization();
  connection = Connection.lazy({ address: temporal.current.address });
});
afterEach(async () => {
  if (!temporal.current.part.isRunning()) await temporal.start();
});
afterAll(async () => {
  await Promise.all([workers?.stop(), api?.stop(), connection?.close()]);
  await temporal?.stop();
});

/** Looks without a pause, so that little happens between the moment and what is done at it. */
async function asSoonAs(look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + QUICK_MS;
  while (!(await look())) if (Date.now() > end) throw new Error('the moment did not come');
}

async function isStored(creation: AccountCreation, step: Step): Promise<boolean> {
  const key = creation.asks.get(step)?.idempotencyKey ?? '';
  return (
    (await api.db('idempotency_requests').where({ organization_id: org.id, key }).first('id')) !== undefined
  );
}

async function hasEffect(creation: AccountCreation, step: Step): Promise<boolean> {
  const { db } = api;
  switch (step) {
    case 'create':
      return (
        (await db('proposals').whereRaw(`data->'items'->0->>'name' = ?`, [creation.name]).first('id')) !==
        undefined
      );
    case 'execute':
      return (
        requireRow(
          await db('approvals')
            .where({ id: proposalOf(creation).id })
            .first(),
        ).execution_status !== null
      );
    default:
      return (
        (await db('votes')
          .where({ approval_id: proposalOf(creation).id })
          .first()) !== undefined
      );
  }
}

const steps: Step[] = ['create', 'sign', 'execute'];

type Look = (creation: AccountCreation, step: Step) => Promise<boolean>;
type Sent = readonly (readonly [AccountCreation, Step])[];
const first = (sent: Sent, look: Look) => Promise.race(sent.map((one) => asSoonAs(() => look(...one))));
const each = (sent: Sent, look: Look) => Promise.all(sent.map((one) => asSoonAs(() => look(...one))));

interface Moment {
  readonly when: string;
  readonly reached: (sent: Sent) => Promise<unknown>;
}

const moments: Moment[] = [
  { when: 'at once', reached: async () => undefined },
  { when: 'when the first request is stored', reached: (sent) => first(sent, isStored) },
  { when: 'when the first has its effect in the database', reached: (sent) => first(sent, hasEffect) },
  { when: 'when each has its effect in the database', reached: (sent) => each(sent, hasEffect) },
];

describe('a Temporal server that is killed while it is asked to create, to sign and to execute', () => {
  it.each(moments)('$when, loses nothing and repeats nothing', async ({ reached }) => {
    const { http, db, config } = api;
    const world = { http, db, org, temporal: new Client({ connection }), networks: config.networks };
    const sent = steps.map((step) => [beginCreation(), step] as const);
    await Promise.all(sent.map(([creation, step]) => prepare(world, creation, step)));
    const asks = await Promise.all(sent.map(([creation, step]) => askOf(world, creation, step)));
    const sending = Promise.all(
      asks.map(async (ask) => {
        const sentAt = Date.now();
        return { answer: await http.send(ask), ms: Date.now() - sentAt };
      }),
    );
    await reached(sent);
    await temporal.kill();
    for (const [index, { answer, ms }] of (await sending).entries()) {
      const step = steps[index];
      expect(ms).toBeLessThan(step === 'execute' ? 2 * QUICK_MS : QUICK_MS);
      if (answer.status === 500) {
        expect(answer.body.error.code).toBe('internalError');
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      } else {
        expect(answer.status).toBe(step === 'create' ? 201 : 200);
      }
    }
    await temporal.start();
    await Promise.all(
      sent.map(async ([creation, step]) => {
        await completeStep(world, creation, step);
        await finish(world, creation);
        await expectOneOfEverything(world, creation);
      }),
    );
  });
});
