import { Client, Connection } from '@temporalio/client';
import { deliveryWorkflowId } from '../../src/temporal/ids';
import { deliveryMessages } from '../../src/temporal/messages';
import {
  askOf,
  beginCreation,
  completeStep,
  finish,
  isTemporary,
  prepare,
  type Step,
} from '../chaos/accountCreation';
import { expectOneOfEverything } from '../chaos/invariants';
import { propose } from '../support/api';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { startReceiver } from '../support/receiver';
import { startTestService, type TestService } from '../support/service';
import { sharedStack } from '../support/stack';
import { until } from '../support/until';

/** How long a request may take while no worker runs: the API waits 12 s for a workflow. */
const QUICK_MS = 15_000;

/** How many services run side by side. */
const AT_ONCE = 4;

interface Case {
  readonly step: Step;
  readonly when: string;
  readonly failpoint: string;
}

// Those that Temporal takes longest to notice come first.
const cases: readonly Case[] = [
  { step: 'execute', when: 'before anything is signed', failpoint: 'signer.signDeployment:before' },
  { step: 'execute', when: 'after the envelope is stored', failpoint: 'signer.signDeployment:after' },
  { step: 'execute', when: 'before the decision is sealed', failpoint: 'signer.sealProposal:before' },
  { step: 'execute', when: 'while the decision is sealed', failpoint: 'signer.sealStored' },
  { step: 'execute', when: 'once the seal is in the journal', failpoint: 'signer.sealJournaled' },
  { step: 'execute', when: 'after the decision is sealed', failpoint: 'signer.sealProposal:after' },
  { step: 'create', when: 'before the proposal is written', failpoint: 'worker.createApproval:before' },
  {
    step: 'create',
    when: 'after the proposal is written',
    failpoint: 'worker.createApproval:after',
  },
  { step: 'sign', when: 'before the vote is written', failpoint: 'worker.recordVote:before' },
  { step: 'sign', when: 'after the vote is written', failpoint: 'worker.recordVote:after' },
  { step: 'execute', when: 'before the execution is begun', failpoint: 'worker.beginExecution:before' },
  { step: 'execute', when: 'after the execution is begun', failpoint: 'worker.beginExecution:after' },
  { step: 'execute', when: 'before the seal is carried out', failpoint: 'worker.applySeal:before' },
  { step: 'execute', when: 'while the seal is carried out', failpoint: 'worker.sealProjected' },
  { step: 'execute', when: 'after the seal is carried out', failpoint: 'worker.applySeal:after' },
  { step: 'execute', when: 'before the envelope is sent', failpoint: 'chain.followDeployment:before' },
  { step: 'execute', when: 'after the envelope is sent', failpoint: 'chain.sent' },
  { step: 'execute', when: 'after the envelope is in a block', failpoint: 'chain.followDeployment:after' },
  { step: 'execute', when: 'after a deployment is recorded', failpoint: 'worker.recordDeployment:after' },
  { step: 'execute', when: 'before the execution is finished', failpoint: 'worker.finishDeployments:before' },
  { step: 'execute', when: 'after the execution is finished', failpoint: 'worker.finishDeployments:after' },
];

let connection: Connection;

/** Kills the workers of one service at one point, starts them again, and looks whether all was done once. */
async function run({ step, failpoint }: Case): Promise<void> {
  let api: TestService | undefined;
  let workers: ServiceProcess | undefined;
  try {
    api = await startTestService({ env: { ORGWALLET_ROLES: 'api' } });
    workers = await startServiceProcess(api.env, { roles: ['worker', 'chain', 'signer'], failpoint });
    const { http, db, config } = api;
    const org = await api.createOrganization();
    const world = { http, db, org, temporal: new Client({ connection }), networks: config.networks };
    const creation = beginCreation();
    await prepare(world, creation, step);
    const ask = await askOf(world, creation, step);
    const sentAt = Date.now();
    const [answer] = await Promise.all([
      http.send(ask).then((given) => {
        // An execution may wait as long again for its outcome.
        expect(Date.now() - sentAt).toBeLessThan(step === 'execute' ? 2 * QUICK_MS : QUICK_MS);
        return given;
      }),
      workers.died(),
    ]);
    if (isTemporary(answer)) expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    else expect(answer.status).toBe(step === 'create' ? 201 : 200);
    await workers.start();
    await completeStep(world, creation, step);
    await finish(world, creation);
    await expectOneOfEverything(world, creation);
  } finally {
    await Promise.all([workers?.stop(), api?.stop()]);
  }
}

let outcomes: Map<string, Promise<unknown>>;

beforeAll(async () => {
  connection = await Connection.connect({ address: sharedStack().temporalAddress });
  // Side by side: nearly all of the time is waiting until Temporal notices that a worker is gone.
  const free = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  outcomes = new Map();
  for (const [index, one] of cases.entries()) {
    const lane = index % AT_ONCE;
    const outcome = (free[lane] ?? Promise.resolve()).then(() => run(one)).catch((error) => error);
    free[lane] = outcome.then(() => undefined);
    outcomes.set(one.failpoint, outcome);
  }
});
afterAll(async () => {
  await Promise.all([...outcomes.values()]);
  await connection?.close();
});

describe('workers that are killed', () => {
  it.each(cases)(
    '$when ($step) execute it once after their restart',
    async ({ failpoint }) => {
      const error = await outcomes.get(failpoint);
      if (error) throw error;
    },
    120_000,
  );
});

/** A service whose workers are killed at a failpoint. */
async function killedAt(
  failpoint: string,
  settings: NodeJS.ProcessEnv,
  work: (api: TestService, workers: ServiceProcess) => Promise<void>,
): Promise<void> {
  let api: TestService | undefined;
  let workers: ServiceProcess | undefined;
  try {
    api = await startTestService({ env: { ...settings, ORGWALLET_ROLES: 'api' } });
    workers = await startServiceProcess(api.env, { roles: ['worker', 'chain', 'signer'], failpoint });
    await work(api, workers);
  } finally {
    await Promise.all([workers?.stop(), api?.stop()]);
  }
}

describe.each(['before', 'after'])('workers that are killed %s it', (when) => {
  it('remind of a request once', async () => {
    const failpoint = `worker.recordReminder:${when}`;
    await killedAt(
      failpoint,
      { PROPOSAL_LIFETIME: '90s' },
      async ({ http, db, createOrganization }, workers) => {
        const proposal = await propose(http, await createOrganization());
        await workers.died();
        await workers.start();
        const recorded = async () => {
          const entries = await db('audit_log').where({ resource_id: proposal.id }).orderBy('position');
          const actions = entries.map(({ action }) => action);
          return actions.includes('proposal.expired') && actions;
        };
        expect(await until('it has expired', recorded, 180_000)).toEqual([
          ...['proposal.created', 'proposal.reminded', 'proposal.reminded', 'proposal.expired'],
        ]);
      },
    );
  }, 240_000);

  it('pause a webhook, and send what came meanwhile once', async () => {
    const receiver = await startReceiver();
    await killedAt(`worker.setDeliveryPaused:${when}`, {}, async ({ http, createOrganization }, workers) => {
      const org = await createOrganization();
      const send = (path: string, body?: object) =>
        http.send({ key: org.adminKey, path, ...(body && { body }) });
      const { id } = (await send('/api/v1/webhooks', { url: receiver.url })).body.data;
      const workflowId = deliveryWorkflowId({ organizationId: org.id, id });
      const workflow = new Client({ connection }).workflow.getHandle(workflowId);
      await workflow.signal(deliveryMessages.pause);
      await workers.died();
      await workers.start();
      const isPaused = async () => (await send(`/api/v1/webhooks/${id}`)).body.data.status === 'paused';
      await until('it is paused', isPaused);
      await propose(http, org);
      await workflow.signal(deliveryMessages.resume);
      const sent = () => receiver.received.map(({ event }) => event.type);
      await until('all is sent', async () => sent().includes('webhook.resumed'), 120_000);
      expect(sent()).toEqual(['webhook.created', 'webhook.paused', 'proposal.created', 'webhook.resumed']);
    }).finally(() => receiver.close());
  }, 240_000);
});
