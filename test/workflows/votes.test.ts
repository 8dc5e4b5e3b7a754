import { randomUUID } from 'node:crypto';
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { encodeSignature } from '../../src/chain/signatures';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { ProposalState } from '../../src/domain/proposal';
import { APPROVAL_WORKFLOWS } from '../../src/temporal/approvalMessages';
import { approvalWorkflowId, taskQueues } from '../../src/temporal/ids';
import type { MessageResult } from '../../src/temporal/messages';
import { proposalPath, type Shown } from '../support/api';
import { signPayload, type TestOrganization } from '../support/service';
import { until } from '../support/until';
import {
  activitiesOf,
  auditOf,
  expectSoundAudit,
  proposeAccount,
  proposeName,
  show,
  startWorld,
  storeAccount,
  vote,
  voteOf,
  type World,
  workflowOf,
} from './world';

let world: World;
let org: TestOrganization;
let other: TestOrganization;
/** Stays unsigned by all but those who may. */
let proposal: Shown;
let another: Shown;
let foreign: Shown;
let handle: WorkflowHandle;

beforeAll(async () => {
  world = await startWorld();
  [org, other] = await Promise.all([world.createOrganization(), world.createOrganization()]);
  [proposal, another, foreign] = await Promise.all([
    proposeAccount(world, org),
    proposeAccount(world, org),
    proposeAccount(world, other),
  ]);
  handle = workflowOf(world, org, proposal);
});
afterAll(() => world?.stop());

/** Everything of both organizations that a message could change. */
const everything = () => Promise.all([org.stored(), other.stored()]);

/** Sends an update of any shape. */
function update(
  name: string,
  args: unknown[],
  of = handle,
  updateId: string = randomUUID(),
): Promise<MessageResult<ProposalState>> {
  return of.executeUpdate<MessageResult<ProposalState>, [unknown, ...unknown[]]>(name, {
    updateId,
    args: args as [unknown, ...unknown[]],
  });
}

const approve = () => proposal.signingPayloads.approvePayload;

/** Forged votes: what is sent, and how it is refused. */
const forgeries: [string, () => Promise<unknown>, string][] = [
  [
    "with another admin's address on it",
    async () =>
      encodeSignature(org.bob.wallet.address, await org.alice.wallet.signTypedData(JSON.parse(approve()))),
    'invalidSignature',
  ],
  [
    'over another proposal',
    () => signPayload(org.alice, another.signingPayloads.approvePayload),
    'invalidSignature',
  ],
  [
    'over the reject payload',
    () => signPayload(org.alice, proposal.signingPayloads.rejectPayload),
    'invalidSignature',
  ],
  [
    'over a later expiry',
    () => {
      const payload = JSON.parse(approve());
      payload.message.expiresAt = String(Number(payload.message.expiresAt) + 1);
      return signPayload(org.alice, JSON.stringify(payload));
    },
    'invalidSignature',
  ],
  [
    'over other data',
    () => signPayload(org.alice, approve().replace('networkIds', 'networkIdz')),
    'invalidSignature',
  ],
  [
    "for another organization's copy",
    () => {
      const payload = JSON.parse(approve());
      payload.domain.salt = JSON.parse(foreign.signingPayloads.approvePayload).domain.salt;
      return signPayload(org.alice, JSON.stringify(payload));
    },
    'invalidSignature',
  ],
  ['by a member who is not an admin', () => signPayload(org.dave, approve()), 'forbidden'],
  ['by an admin of another organization', () => signPayload(other.alice, approve()), 'forbidden'],
  [
    'by a stranger',
    async () => {
      const stranger = privateKeyToAccount(generatePrivateKey());
      return encodeSignature(stranger.address, await stranger.signTypedData(JSON.parse(approve())));
    },
    'forbidden',
  ],
  ['that is empty', async () => '', 'invalidSignature'],
  ['that is not hex', async () => '0xzz', 'invalidSignature'],
  ['that is not a pair', async () => `0x${'00'.repeat(65)}`, 'invalidSignature'],
  ['with a text of 131,072 zeros', async () => `0x${'0'.repeat(131_072)}`, 'invalidSignature'],
  ['with control characters', async () => '0x\u0000\n', 'invalidSignature'],
];

/** Messages of a wrong shape; `sound` is a good vote to spoil. */
const misshapen: [string, (sound: object) => unknown][] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['a text', () => 'approve'],
  ['a number', () => 5],
  ['a list', (sound) => [sound]],
  ['no type', (sound) => ({ ...sound, type: undefined })],
  ['a type of its own', (sound) => ({ ...sound, type: 'initiator' })],
  ['a type that is a list', (sound) => ({ ...sound, type: ['approve'] })],
  ['no signature', (sound) => ({ ...sound, signature: undefined })],
  ['a signature that is a number', (sound) => ({ ...sound, signature: 5 })],
  ['a signature that is an object', (sound) => ({ ...sound, signature: { length: 3 } })],
  ['a signature of 256 KiB', (sound) => ({ ...sound, signature: `0x${'ab'.repeat(131_072)}` })],
  ['a reason of 501 characters', (sound) => ({ ...sound, reason: 'x'.repeat(501) })],
  ['a reason that the database cannot hold', (sound) => ({ ...sound, reason: 'a\u0000b' })],
  ['a reason with half a character', (sound) => ({ ...sound, reason: '\ud800' })],
  ['a reason that is an object', (sound) => ({ ...sound, reason: { text: 'yes' } })],
  ['an execute that is a text', (sound) => ({ ...sound, execute: 'yes' })],
  ['a request id that is none', (sound) => ({ ...sound, requestId: "'; DROP TABLE proposals" })],
];

describe('a forged vote', () => {
  it.each(forgeries)('%s is refused, and not counted', async (_what, make, code) => {
    const before = await everything();
    const signature = await make();
    const result = await update('sign', [{ type: 'approve', signature, execute: true }]);
    expect(result).toMatchObject({ ok: false, refusal: { code } });
    expect(await everything()).toEqual(before);
  });

  it('is not counted as a signal either', async () => {
    const before = await everything();
    const done = await activitiesOf(handle);
    for (const [, make] of forgeries) {
      await handle.signal('sign', { type: 'approve', signature: await make(), execute: true });
    }
    await until(
      'all signals are handled',
      async () => (await activitiesOf(handle)) === done + forgeries.length,
    );
    expect(await everything()).toEqual(before);
  });

  it('cannot be counted on another proposal', async () => {
    const before = await everything();
    const elsewhere = { subject: 'proposal', organizationId: other.id, id: foreign.id };
    const result = await update('sign', [{ ...(await voteOf(other.alice, foreign)), ...elsewhere }]);
    expect(result).toMatchObject({ ok: false, refusal: { code: 'invalidSignature' } });
    expect(await everything()).toEqual(before);
    expect(await handle.query('state')).toMatchObject({ id: proposal.id, organizationId: org.id });
  });
});

describe('an invalid message', () => {
  it.each(misshapen)('%s is refused before it is accepted', async (_what, spoil) => {
    const message = spoil(await voteOf(org.alice, proposal));
    const before = await handle.describe();
    await expect(update('sign', [message])).rejects.toThrow(WorkflowUpdateFailedError);
    expect((await handle.describe()).historyLength).toBe(before.historyLength);
  });

  it('has no effect as a signal, and does not stop the workflow', async () => {
    const before = await everything();
    const sound = await voteOf(org.alice, proposal);
    for (const [, spoil] of misshapen) await handle.signal('sign', spoil(sound));
    await handle.signal('retryExecution', 'with', 'arguments', 3);
    await handle.signal('refresh', null);
    await handle.signal('noSuchSignal', 1);
    await expect(update('noSuchUpdate', [1])).rejects.toThrow(WorkflowUpdateFailedError);
    const result = await update('sign', [{ type: 'approve', signature: '0x' }]);
    expect(result).toMatchObject({ ok: false, refusal: { code: 'invalidSignature' } });
    expect(await everything()).toEqual(before);
    const { events } = await handle.fetchHistory();
    expect((events ?? []).filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  });

  it('is refused when its id cannot be stored', async () => {
    const sound = await voteOf(org.alice, proposal);
    await expect(update('sign', [sound], handle, 'a\u0000b')).rejects.toThrow();
    await expect(update('retryExecution', [], handle, 'a\nb')).rejects.toThrow(WorkflowUpdateFailedError);
    expect(await world.db('received_messages').where({ approval_id: proposal.id })).toEqual([]);
  });
});

describe('a valid signature', () => {
  it('is counted once as a signal, however often it is sent', async () => {
    const voted = await proposeAccount(world, org);
    const itsHandle = workflowOf(world, org, voted);
    const message = await voteOf(org.alice, voted);
    const done = await activitiesOf(itsHandle);
    for (let i = 0; i < 3; i += 1) await itsHandle.signal('sign', message);
    await until('all three are handled', async () => (await activitiesOf(itsHandle)) === done + 3);
    const shown = await show(world, org, voted);
    expect(shown.approvals.map(({ id }: Shown) => id)).toEqual([org.alice.id]);
    expect(await auditOf(world.db, voted)).toEqual(['proposal.created', 'proposal.signed']);
    expect(await world.db('votes').where({ approval_id: voted.id })).toHaveLength(1);
  });

  it('executes with execute when its signal meets the threshold', async () => {
    const voted = await proposeName(world, org, await storeAccount(world.db, org), 'Named');
    const itsHandle = workflowOf(world, org, voted);
    for (const member of [org.alice, org.bob]) {
      await itsHandle.signal('sign', { ...(await voteOf(member, voted)), execute: true });
    }
    expect(await itsHandle.result()).toMatchObject({ executionStatus: 'completed', closed: true });
  });

  it('has one outcome when the same message is sent again, and a second message is refused', async () => {
    const voted = await proposeAccount(world, org);
    const updateId = randomUUID();
    const first = await vote(world, org, voted, org.alice, 'approve', { updateId });
    const again = await vote(world, org, voted, org.alice, 'approve', { updateId });
    expect(first).toMatchObject({ ok: true, state: { approvals: [{ id: org.alice.id }] } });
    expect(again).toEqual(first);
    expect(await vote(world, org, voted, org.alice)).toMatchObject({
      ok: false,
      refusal: { code: 'conflict' },
    });
    expect(await vote(world, org, voted, org.alice, 'reject')).toMatchObject({ ok: true });
    expect(await auditOf(world.db, voted)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.signed',
    ]);
  });

  it('is counted on each of two proposals though both messages have the same id', async () => {
    const [one, two] = await Promise.all([proposeAccount(world, org), proposeAccount(world, org)]);
    const updateId = randomUUID();
    await vote(world, org, one, org.alice, 'approve', { updateId });
    await vote(world, org, two, org.alice, 'approve', { updateId });
    for (const voted of [one, two]) {
      expect((await show(world, org, voted)).approvals).toEqual([
        expect.objectContaining({ id: org.alice.id }),
      ]);
    }
  });

  it('is refused with a request that was about another approval', async () => {
    const voted = await proposeAccount(world, org);
    const foreignRequest = await world
      .db('idempotency_requests')
      .where({ resource_id: another.id })
      .first('id');
    const message = { ...(await voteOf(org.alice, voted)), requestId: requireRow(foreignRequest).id };
    expect(await update('sign', [message], workflowOf(world, org, voted))).toMatchObject({
      ok: false,
      refusal: { code: 'internalError' },
    });
    expect(await auditOf(world.db, voted)).toEqual(['proposal.created']);
    expect((await show(world, org, voted)).approvals).toEqual([]);
  });
});

describe('a forged execution', () => {
  it('below the threshold changes nothing', async () => {
    const before = await everything();
    for (const type of ['approve', 'reject']) {
      const result = await update('execute', [{ type, actor: 'operator', approvals: 9 }]);
      expect(result).toMatchObject({ ok: false, refusal: { code: 'thresholdNotMet' } });
    }
    for (const message of [
      undefined,
      null,
      'approve',
      {},
      { type: 'both' },
      { type: 'approve', requestId: 3 },
    ]) {
      await expect(update('execute', [message])).rejects.toThrow(WorkflowUpdateFailedError);
    }
    expect(await everything()).toEqual(before);
  });

  it('cannot name another proposal to execute', async () => {
    const ready = await proposeName(world, other, await storeAccount(world.db, other), 'Ready');
    await vote(world, other, ready, other.alice);
    await vote(world, other, ready, other.bob);
    const before = await everything();
    const result = await update('execute', [{ type: 'approve', organizationId: other.id, id: ready.id }]);
    expect(result).toMatchObject({ ok: false, refusal: { code: 'thresholdNotMet' } });
    expect(await everything()).toEqual(before);
  });

  it('is refused as a retry before the first attempt', async () => {
    const ready = await proposeName(world, org, await storeAccount(world.db, org), 'Ready');
    await vote(world, org, ready, org.alice);
    await vote(world, org, ready, org.bob);
    const before = await everything();
    const result = await update('retryExecution', [], workflowOf(world, org, ready));
    expect(result).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    expect(await everything()).toEqual(before);
    expect((await show(world, org, ready)).signatureStatus).toBe('approvalReady');
  });
});

describe('a workflow that was not started by the API', () => {
  const start = (input: object, workflowId = `forged/${randomUUID()}`) =>
    world.temporal.workflow.execute(APPROVAL_WORKFLOWS.proposal, {
      workflowId,
      taskQueue: world.config.temporal.taskQueue,
      args: [input],
    });
  const input = (more: object = {}) => ({
    organizationId: org.id,
    id: newId('prop'),
    resourceType: 'accounts',
    action: 'create',
    queues: { chain: 'nowhere', signer: 'nowhere' },
    ...more,
  });
  const requestOf = async (about: Shown) =>
    requireRow(await world.db('idempotency_requests').where({ resource_id: about.id }).first('id')).id;

  it.each<[string, () => Promise<object>]>([
    ['without a request', async () => input()],
    ['with an unknown request', async () => input({ requestId: randomUUID() })],
    ["with another proposal's request", async () => input({ requestId: await requestOf(proposal) })],
    [
      "with another organization's request",
      async () => input({ requestId: await requestOf(foreign), id: foreign.id }),
    ],
    ['for an unknown organization', async () => input({ organizationId: 'org_1', requestId: randomUUID() })],
    ['for an unknown operation', async () => input({ action: 'remove', requestId: randomUUID() })],
  ])('%s stores nothing', async (_what, make) => {
    const before = await everything();
    expect(await start(await make())).toBeNull();
    expect(await everything()).toEqual(before);
  });

  it('cannot create another kind of proposal from a stored request', async () => {
    // A request that is stored and not yet sent, as the API leaves it before its own start.
    const pending = requireRow(
      await world.db('idempotency_requests').where({ resource_id: proposal.id }).first(),
    );
    const id = randomUUID();
    const proposalId = newId('prop');
    await world.db('idempotency_requests').insert({
      ...pending,
      body: JSON.stringify(pending.body),
      id,
      key: randomUUID(),
      resource_id: proposalId,
    });
    const before = await everything();
    expect(await start(input({ action: 'update', requestId: id, id: proposalId }))).toBeNull();
    expect(await everything()).toEqual(before);
  });

  it.each([
    ['nothing', () => undefined],
    ['an empty object', () => ({})],
    ['ids that are numbers', () => input({ organizationId: 1, id: 2 })],
    ['no queues', () => input({ queues: undefined })],
    ['an unknown resource', () => input({ resourceType: 'wishes' })],
    ['an unknown action', () => input({ action: 'explode' })],
  ])('fails at once with the reason when started with %s', async (_what, garbage) => {
    await expect(start(garbage() as object)).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  });

  it('cannot decide a proposal that has its own workflow', async () => {
    const twin = `forged/${randomUUID()}`;
    const forged = await world.temporal.workflow.start(APPROVAL_WORKFLOWS.proposal, {
      workflowId: twin,
      taskQueue: world.config.temporal.taskQueue,
      args: [
        input({
          id: proposal.id,
          action: 'update',
          queues: { chain: 'nowhere', signer: taskQueues(world.config.temporal.taskQueue).signer },
        }),
      ],
    });
    const before = await everything();
    const dave = await update('sign', [await voteOf(org.dave, proposal)], forged);
    expect(dave).toMatchObject({ ok: false, refusal: { code: 'forbidden' } });
    const executed = await update('execute', [{ type: 'approve' }], forged);
    expect(executed).toMatchObject({ ok: false, refusal: { code: 'thresholdNotMet' } });
    expect(await everything()).toEqual(before);
    await forged.terminate();
  });
});

it('leaves the proposal as it was, and sound audit logs', async () => {
  const answer = await world.http.send({ key: org.readKey, path: proposalPath(proposal.id) });
  expect(answer.body.data).toMatchObject({
    approvals: [],
    rejections: [],
    executionStatus: null,
    signatureStatus: 'pendingReviewSignatures',
  });
  expect(
    approvalWorkflowId({
      subject: 'proposal',
      organizationId: org.id,
      resourceType: 'accounts',
      id: proposal.id,
    }),
  ).toBe(handle.workflowId);
  await expectSoundAudit(world.db, org);
  await expectSoundAudit(world.db, other);
});
