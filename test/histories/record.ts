import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { requireRow } from '../../src/db/rows';
import { restartApproval } from '../../src/temporal/approvalMessages';
import { approvalWorkflowId, deliveryWorkflowId, taskQueues } from '../../src/temporal/ids';
import { deliveryMessages } from '../../src/temporal/messages';
import { findWorkflow } from '../../src/temporal/runs';
import { RECONCILE_WORKFLOW } from '../../src/temporal/schedule';
import { carryOut, execute, proposeChange, type Shown, UPDATE } from '../support/api';
import { proposeHindered } from '../support/decisions';
import { startReceiver } from '../support/receiver';
import type { TestOrganization } from '../support/service';
import { until } from '../support/until';
import {
  auditOf,
  ended,
  messages,
  proposeAccount,
  proposeName,
  setRelayerBalance,
  show,
  startWorld,
  storeAccount,
  untilStatus,
  vote,
  voteOf,
  type World,
  workflowOf,
} from '../workflows/world';
import { UNRELEASED, writeHistories } from './files';
import { recordTransactions } from './transactions';

const LIFETIME = '12s';
const FIRST = 31337;
const SECOND = 31338;

type Proto = Parameters<typeof historyToJSON>[0];

/** A history as JSON text that names neither the machine nor the folder it was made on. */
function anonymous(history: Proto): string {
  const json = historyToJSON(history)
    .replaceAll(hostname(), 'host')
    .replace(/"identity":\s*"[^"]*"/g, '"identity": "worker"')
    .replace(/"stackTrace":\s*"(?:[^"\\]|\\.)*"/g, '"stackTrace": ""');
  return JSON.stringify(JSON.parse(json));
}

/**
 * Records a history of each workflow in each state, made by the service as it is now, in the place of those that are
 * unreleased. Start the parts first: it runs under jest (`npm run histories`).
 */
export async function recordHistories(): Promise<void> {
  const recorded = new Map([
    ...(await recordWith({ PROPOSAL_LIFETIME: LIFETIME }, recordStates)),
    ...(await recordWith({}, recordKinds)),
    ...(await recordWith({}, recordDeliveries)),
    ...(await recordTransactions(async (handle) => anonymous(await handle.fetchHistory()))),
  ]);
  writeHistories(UNRELEASED, recorded);
}

async function recordWith(
  env: NodeJS.ProcessEnv,
  record: (world: World, org: TestOrganization) => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  const world = await startWorld({ env });
  try {
    return await record(world, await world.createOrganization());
  } finally {
    await world.stop();
  }
}

/** A destination that has everything, one that fails and is tried again, one that an operator pauses, and one that is removed. */
async function recordDeliveries(world: World, org: TestOrganization): Promise<Map<string, string>> {
  const recorded = new Map<string, string>();
  const receiver = await startReceiver();
  const hooks = '/api/v1/webhooks';
  const create = async (path: string): Promise<string> =>
    (await world.http.send({ key: org.adminKey, path: hooks, body: { url: `${receiver.url}${path}` } })).body
      .data.id;
  const handleOf = (id: string) =>
    world.temporal.workflow.getHandle(deliveryWorkflowId({ organizationId: org.id, id }));
  const reached = (id: string, status: string) =>
    until(`${id} is ${status}`, async () => {
      const { body } = await world.http.send({ key: org.adminKey, path: `${hooks}/${id}` });
      return body.data.status === status || undefined;
    });
  const record = async (name: string, id: string) => {
    // The last activity has ended, and its workflow waits.
    await sleep(1_200);
    recorded.set(name, anonymous(await handleOf(id).fetchHistory()));
  };
  try {
    receiver.answer((_, response, { url }) => response.writeHead(url?.endsWith('failing') ? 500 : 204).end());
    const upToDate = await create('');
    const failing = await create('/failing');
    const removed = await create('');
    await reached(failing, 'failing');
    await handleOf(failing).signal(deliveryMessages.refresh);
    await record('deliveryFailing', failing);
    await record('deliveryUpToDate', upToDate);
    await handleOf(upToDate).signal(deliveryMessages.pause);
    await reached(upToDate, 'paused');
    await record('deliveryPaused', upToDate);
    await handleOf(upToDate).signal(deliveryMessages.resume);
    await reached(upToDate, 'active');
    await record('deliveryResumed', upToDate);
    await world.http.send({ key: org.adminKey, method: 'DELETE', path: `${hooks}/${removed}` });
    await handleOf(removed).result();
    await record('deliveryRemoved', removed);
  } finally {
    receiver.close();
  }
  return recorded;
}

/** One proposal of each kind, carried out, one that waits while they change its world, and a pass of the reconciler. */
async function recordKinds(world: World, org: TestOrganization): Promise<Map<string, string>> {
  const recorded = new Map<string, string>();
  const history = async (proposal: Shown) => anonymous(await workflowOf(world, org, proposal).fetchHistory());
  const carry = async (name: string, path: string, body: object): Promise<string[]> => {
    const proposal = await proposeChange(world.http, org, path, body);
    const { result } = await carryOut(world.http, org, proposal);
    await ended(world, org, proposal);
    recorded.set(name, await history(proposal));
    return result.resources.map(({ id }: { id: string }) => id);
  };
  const wallet = () => privateKeyToAccount(generatePrivateKey()).address;

  const [memberId] = await carry('membersCreate', '/members/proposals/create', {
    items: [{ name: 'Erin', walletAddress: wallet() }],
  });
  const noted = await proposeChange(world.http, org, '/groups/proposals/create', {
    items: [{ name: 'Waiting', memberIds: [memberId, org.dave.id] }],
  });
  await vote(world, org, noted, org.carol);
  await carry('membersUpdate', '/members/proposals/update', {
    items: [{ id: memberId, name: 'Erin the bot', walletAddress: wallet() }],
  });
  const [groupId] = await carry('groupsCreate', '/groups/proposals/create', {
    items: [{ name: 'Traders', memberIds: [memberId] }],
  });
  await carry('groupsUpdate', '/groups/proposals/update', {
    items: [{ id: groupId, memberUpdates: [{ action: 'addMember', id: org.dave.id }] }],
  });
  const policy = {
    name: 'Anything small',
    type: 'MANUAL_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: FIRST,
    accountIds: null,
    initiatorSetting: null,
    approverSetting: { type: 'group', groupId, threshold: 1 },
    tokenTransferCondition: {
      tokenAddress: '0x0000000000000000000000000000000000000000',
      amountThreshold: '1000000000000000000',
      destinationAddresses: [],
    },
  };
  const [policyId] = await carry('policiesCreate', '/policies/proposals', { policies: [policy] });
  await carry('policiesUpdate', '/policies/proposals', {
    policies: [{ ...policy, id: policyId, name: 'Anything' }],
  });
  await carry('policiesRemove', '/policies/proposals/remove', { policyIds: [policyId] });
  await carry('groupsDelete', '/groups/proposals/delete', { items: [{ id: groupId }] });
  await carry('membersRemove', '/members/proposals/remove', { ids: [memberId] });
  await carry('adminsUpdate', '/admins/proposals/update', {
    updates: [{ action: 'removeMember', id: org.carol.id }],
    threshold: 1,
  });
  await until('the workflow has read what happened to its proposal', async () => {
    const state = await workflowOf(world, org, noted).query<Shown>('state');
    return state.notes.some(({ code }: Shown) => code === 'adminRemoved');
  });
  recorded.set('noted', await history(noted));

  // Terminated by somebody, and started again from its record.
  const lost = await proposeName(world, org, await storeAccount(world.db, org, 'Before'), 'After');
  await workflowOf(world, org, lost).terminate('by mistake');
  const queues = taskQueues(world.config.temporal.taskQueue);
  const sender = { client: world.temporal, queues, deadlineMs: 10_000 };
  const { resourceType, action } = lost;
  const ref = { subject: 'proposal' as const, organizationId: org.id, id: lost.id, resourceType, action };
  const found = await findWorkflow(sender, workflowOf(world, org, lost).workflowId);
  if (found.status === 'running') throw new Error('a terminated workflow runs');
  await restartApproval(sender, ref, found);
  await vote(world, org, lost, org.alice, 'approve', { execute: true });
  await ended(world, org, lost);
  recorded.set('restored', await history(lost));

  const pass = await world.temporal.workflow.start(RECONCILE_WORKFLOW, {
    taskQueue: world.config.temporal.taskQueue,
    workflowId: `${org.id}/reconcile`,
  });
  await pass.result();
  recorded.set('reconciled', anonymous(await pass.fetchHistory()));
  return recorded;
}

async function recordStates(world: World, org: TestOrganization): Promise<Map<string, string>> {
  const recorded = new Map<string, string>();
  const record = async (name: string, proposal: Shown) => {
    recorded.set(name, anonymous(await workflowOf(world, org, proposal).fetchHistory()));
  };
  let names = 0;
  const name = async () => {
    names += 1;
    return proposeName(world, org, await storeAccount(world.db, org, `Before ${names}`), `After ${names}`);
  };
  const approve = async (proposal: Shown) => {
    await vote(world, org, proposal, org.alice);
    await vote(world, org, proposal, org.bob, 'approve', { execute: true });
  };
  const reject = async (proposal: Shown) => {
    await vote(world, org, proposal, org.alice, 'reject');
    await vote(world, org, proposal, org.bob, 'reject', { execute: true });
  };
  const expired = (proposal: Shown) =>
    until('its expiry is recorded', async () =>
      (await auditOf(world.db, proposal)).includes('proposal.expired'),
    );

  // Waits, with and without votes; then it expires.
  const waiting = await proposeAccount(world, org, [FIRST]);
  const signed = await proposeAccount(world, org, [FIRST]);
  await record('waiting', waiting);
  await vote(world, org, signed, org.alice);
  await vote(world, org, signed, org.alice, 'reject');
  await vote(world, org, signed, org.bob);
  await record('signed', signed);

  // Votes of every kind as signals: right, forged and of a wrong shape.
  const signalled = await name();
  const handle = workflowOf(world, org, signalled);
  await handle.signal('sign', null);
  await handle.signal(messages.signSignal, { type: 'approve', signature: '0x' });
  await handle.signal(messages.signSignal, await voteOf(org.alice, signalled));
  await handle.signal(messages.signSignal, { ...(await voteOf(org.bob, signalled)), execute: true });
  await ended(world, org, signalled);
  await record('signalled', signalled);

  const rejected = await name();
  await reject(rejected);
  await ended(world, org, rejected);
  await record('rejected', rejected);

  const renamed = await name();
  await approve(renamed);
  await ended(world, org, renamed);
  await record('renamed', renamed);

  const claimed = await name();
  const { id: accountId } = claimed.data.items[0];
  await world.http.send({
    key: org.adminKey,
    path: UPDATE,
    body: { items: [{ id: accountId, name: 'Taken' }] },
  });
  const refusedRequest = requireRow(
    await world
      .db('idempotency_requests')
      .whereRaw(`body->'items'->0->>'name' = 'Taken'`)
      .first('resource_id'),
  );
  const refused = world.temporal.workflow.getHandle(
    approvalWorkflowId({
      subject: 'proposal',
      organizationId: org.id,
      resourceType: 'accounts',
      id: refusedRequest.resource_id,
    }),
  );
  await refused.result();
  recorded.set('refusedCreate', anonymous(await refused.fetchHistory()));

  const completed = await proposeAccount(world, org, [FIRST, SECOND]);
  await approve(completed);
  await ended(world, org, completed);
  await record('completed', completed);

  const { proposal: blocked, hinder, free } = await proposeHindered(world, org);
  await hinder();
  await approve(blocked);
  await untilStatus(world, org, blocked, 'blocked');
  await record('blocked', blocked);
  await free();
  await execute(world.http, org.adminKey, blocked.id, 'approve', 'policies');
  await ended(world, org, blocked);
  await record('blockedThenCompleted', blocked);

  // The relayer of one network has no funds: it fails and waits, is retried, or expires and is finished then.
  await setRelayerBalance(world, SECOND, 0n);
  const failed = await proposeAccount(world, org, [FIRST, SECOND]);
  const partly = await proposeAccount(world, org, [FIRST, SECOND]);
  for (const proposal of [failed, partly]) {
    await approve(proposal);
    await untilStatus(world, org, proposal, 'failed');
  }
  await record('failed', failed);
  await setRelayerBalance(world, SECOND, parseEther('10'));
  await workflowOf(world, org, failed).signal(messages.retryExecutionSignal);
  await ended(world, org, failed);
  await record('retried', failed);
  await expired(partly);
  await record('partlyDeployedAfterExpiry', partly);
  await execute(world.http, org.adminKey, partly.id);
  await ended(world, org, partly);
  await record('finishedAfterExpiry', partly);

  await expired(signed);
  await ended(world, org, signed);
  await record('expired', signed);
  if ((await show(world, org, signed)).signatureStatus !== 'expired') throw new Error('it has not expired');
  return recorded;
}
