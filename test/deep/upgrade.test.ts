import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { temporal as proto } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import type { Address } from 'viem';
import { checkBuilds } from '../../src/cli/doctor/temporalChecks';
import type { Role } from '../../src/config';
import { createLogger } from '../../src/logging';
import { projectRoot } from '../../src/projectRoot';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { installTemporalRuntime } from '../../src/workers';
import { type Loaded, SteadyLoad } from '../chaos/steadyLoad';
import { propose, type Shown, settled } from '../support/api';
import { anAddress } from '../support/builders';
import { type ServiceProcess, startServiceProcess } from '../support/process';
import { connectTo, serviceSettings, sign, signingAsk, type TestService } from '../support/service';
import { temporaryDir } from '../support/stack';
import { startTemporalRelease } from '../support/temporalRelease';
import {
  aTransactionBody,
  createTransaction,
  signatureBody,
  transactionPath,
} from '../support/transactionApi';
import { until } from '../support/until';
import { makePayer } from '../workflows/transactionWorld';

const NETWORK_ID = 31_337;
/** Open before the upgrade, of proposals and of transactions each. */
const WAITING = 25;

const UNHANDLED_COMMAND =
  proto.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

/** A build of the service: its id, and the folder that it is in. */
interface BuildOfService {
  readonly id: string;
  readonly root: string;
}

const oldBuild: BuildOfService = { id: 'old', root: projectRoot() };
let newBuild: BuildOfService;

let temporal: Awaited<ReturnType<typeof startTemporalRelease>>;
let connection: Connection;
let client: Client;
let settings: NodeJS.ProcessEnv;
const processes: ServiceProcess[] = [];
/** The API processes, as their callers see them. */
const apis: TestService[] = [];
let loaded: Loaded;
let load: SteadyLoad;
let proposals: Shown[];
let transactions: { readonly transaction: Shown; readonly to: Address }[];

const bundleOf = ({ root }: BuildOfService) => join(root, 'dist', 'workflow-bundle.js');

/** A copy of the build, whose workflows begin with a timer: it cannot replay a history that the other one has made. */
function incompatibleBuild(): BuildOfService {
  const root = join(temporaryDir(), 'next');
  for (const path of ['package.json', 'dist/src', 'dist/activities']) {
    cpSync(join(projectRoot(), path), join(root, path), { recursive: true });
  }
  symlinkSync(join(projectRoot(), 'node_modules'), join(root, 'node_modules'));
  const build = { id: 'new', root };
  mkdirSync(join(root, 'dist'), { recursive: true });
  const creating = 'created = await this.activities.create(';
  const bundle = readFileSync(bundleOf(oldBuild), 'utf8');
  expect(bundle.split(creating)).toHaveLength(2);
  const sleeping = '(0,_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__.sleep)(1)';
  writeFileSync(bundleOf(build), bundle.replace(creating, `await ${sleeping};\n${creating}`));
  return build;
}

/** Starts a role of a build, and waits until it is ready. */
async function start(role: Role, build: BuildOfService): Promise<ServiceProcess> {
  const env = { ...settings, TEMPORAL_BUILD_ID: build.id };
  const one = await startServiceProcess(env, { roles: [role], root: build.root });
  processes.push(one);
  if (role === 'api') apis.push(connectTo(one.env));
  return one;
}

/** How many workflows run on a build, or have ended there. */
async function countOn({ id }: BuildOfService, status: 'Running' | 'Completed'): Promise<number> {
  const deployment = settings.TEMPORAL_TASK_QUEUE;
  const { count } = await client.workflowService.countWorkflowExecutions({
    namespace: 'default',
    query: `ExecutionStatus = '${status}' AND TemporalWorkerDeploymentVersion = '${deployment}:${id}' AND WorkflowType != 'reconcileWorkflow'`,
  });
  return Number(count);
}

async function currentBuildId(): Promise<string | undefined> {
  const { workerDeploymentInfo: info } = await client.workflowService.describeWorkerDeployment({
    namespace: 'default',
    deploymentName: settings.TEMPORAL_TASK_QUEUE ?? '',
  });
  return info?.routingConfig?.currentDeploymentVersion?.buildId ?? undefined;
}

/** What doctor says of the builds. */
async function foundBuilds(): Promise<readonly string[]> {
  const deploymentName = settings.TEMPORAL_TASK_QUEUE ?? '';
  const queues = { workflows: deploymentName, chain: '', signer: '', deliveries: '' };
  const sender = { client, queues, deadlineMs: 5_000 };
  const { status, found } = await checkBuilds(sender, { deploymentName, buildId: 'new' });
  return [status, found];
}

function workflowIdOf(proposal: Shown): string {
  const { id, resourceType } = proposal;
  return approvalWorkflowId({ subject: 'proposal', organizationId: loaded.org.id, resourceType, id });
}

/** The runs of the service's workflows, the oldest first. */
async function runsOf(query = ''): Promise<{ workflowId: string; runId: string }[]> {
  const runs: { workflowId: string; runId: string; at: number }[] = [];
  for await (const { workflowId, runId, startTime } of client.workflow.list({
    query: `TaskQueue = '${settings.TEMPORAL_TASK_QUEUE}'${query}`,
  })) {
    runs.push({ workflowId, runId, at: startTime.getTime() });
  }
  return runs.sort((a, b) => a.at - b.at);
}

beforeAll(async () => {
  await installTemporalRuntime(createLogger('error'));
  newBuild = incompatibleBuild();
  temporal = await startTemporalRelease();
  connection = await Connection.connect({ address: temporal.address });
  client = new Client({ connection });
  settings = await serviceSettings({
    env: { TEMPORAL_ADDRESS: temporal.address, SHUTDOWN_DELAY: '2s', RECONCILE_EVERY: '5s' },
  });
  for (const role of ['signer', 'chain', 'worker', 'worker', 'api'] as const) await start(role, oldBuild);
  const [api] = apis as [TestService];
  const org = await api.createOrganization();
  loaded = { apis, org, payer: await makePayer(api, org, NETWORK_ID), networkId: NETWORK_ID };
  load = new SteadyLoad(loaded);
  proposals = [];
  transactions = [];
  for (let n = 0; n < WAITING; n++) {
    const proposal = await propose(api.http, org);
    await sign(api.http, org.adminKey, proposal, org.alice);
    proposals.push(proposal);
    const to = anAddress() as Address;
    const body = aTransactionBody(org, { ...loaded.payer, to }, { networkId: NETWORK_ID });
    transactions.push({ transaction: await createTransaction(api.http, org, body), to });
  }
}, 1_800_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await Promise.all(apis.map((api) => api.stop()));
  await connection?.close();
  await temporal?.part.stop();
}, 120_000);

test('an upgrade of every role under load: no request fails, nothing is lost, no workflow is on two builds', async () => {
  const [signer, chain, worker, otherWorker, api] = processes as ServiceProcess[];
  expect(await currentBuildId()).toBe('old');
  load.start();
  try {
    await signer?.stop();
    await start('signer', newBuild);
    await start('chain', newBuild);
    await chain?.stop();

    await start('worker', newBuild);
    // It was ready, so that workflows begin there; what is open stays where it is.
    expect(await currentBuildId()).toBe('new');
    await until('both builds have work', async () => (await countOn(newBuild, 'Completed')) > 5);
    expect(await countOn(oldBuild, 'Running')).toBeGreaterThanOrEqual(2 * WAITING);
    expect(await foundBuilds()).toEqual(['ok', expect.stringMatching(/begin on new; running: new, old$/)]);
    // One that is started again in between does not take it back.
    await otherWorker?.stop();
    await otherWorker?.start();
    expect(await currentBuildId()).toBe('new');
    await worker?.stop();
    expect(await countOn(oldBuild, 'Running')).toBe(0);
    await start('worker', newBuild);
    await otherWorker?.stop();

    await start('api', newBuild);
    await api?.stop();
  } finally {
    await load.stop();
  }
  expect(load.paid.length).toBeGreaterThan(20);
  await load.expectPaidOnce();
  console.info(`${load.paid.length} payments while ${processes.length} processes were replaced`);
}, 900_000);

test('what was open before the upgrade is signed and carried out after it, with the signatures that it had', async () => {
  const { org } = loaded;
  const last = apis.at(-1) as TestService;
  for (const proposal of proposals) {
    await load.send(await signingAsk(org.adminKey, proposal, org.bob, 'approve', { execute: true }));
  }
  for (const { transaction, to } of transactions) {
    await load.send({
      key: org.readKey,
      path: transactionPath(transaction.id, '/signatures'),
      body: await signatureBody(transaction, org.dave, 'initiator', { execute: true }),
    });
    load.paid.push({ id: transaction.id, to });
  }
  for (const { id } of proposals) {
    expect(await settled(last.http, org, id)).toMatchObject({ executionStatus: 'completed' });
  }
  await load.expectPaidOnce();
  const restarted = await last.db('audit_log').where('action', 'like', '%estored').pluck('action');
  expect(restarted).toEqual([]);
}, 300_000);

test('no workflow has replayed a history of the other build, which it could not', async () => {
  const [proposal] = proposals;
  const [first] = await runsOf(` AND WorkflowId = '${workflowIdOf(proposal)}'`);
  const history = historyToJSON(
    await client.workflow.getHandle(first?.workflowId ?? '', first?.runId).fetchHistory(),
  );
  const replay = (build: BuildOfService) =>
    Worker.runReplayHistory({ workflowBundle: { codePath: bundleOf(build) } }, JSON.parse(history));
  await replay(oldBuild);
  await expect(replay(newBuild)).rejects.toThrow(/nondeterminism/i);

  const runs = await runsOf();
  expect(runs.length).toBeGreaterThan(2 * WAITING);
  for (const { workflowId, runId } of runs) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const failures = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      // A message that came while a run ended is handled first.
      failed && failed.cause !== UNHANDLED_COMMAND ? [failed.failure?.message] : [],
    );
    expect([workflowId, failures]).toEqual([workflowId, []]);
  }
}, 300_000);

test('workflows whose build has no worker any more are restarted on the current build', async () => {
  const { org } = loaded;
  const last = apis.at(-1) as TestService;
  const proposal = await propose(last.http, org);
  await sign(last.http, org.adminKey, proposal, org.alice);
  const removed = processes.filter(
    ({ config: { roles, temporal: of } }) => roles.includes('worker') && of.build?.buildId === 'new',
  );
  await Promise.all(removed.map((one) => one.kill()));
  await start('worker', { id: 'newest', root: projectRoot() });
  await until(
    'its workflow is restarted',
    async () =>
      (await last.db('audit_log').where({ resource_id: proposal.id }).pluck('action')).includes(
        'proposal.restored',
      ),
    240_000,
  );
  await sign(last.http, org.adminKey, proposal, org.bob, 'approve', { execute: true });
  expect(await settled(last.http, org, proposal.id)).toMatchObject({ executionStatus: 'completed' });
}, 400_000);
