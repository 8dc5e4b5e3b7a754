/** @deep */

import { Client, Connection } from '@temporalio/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { approvalWorkflowId } from '../../src/temporal/ids';
import {
  approve,
  change,
  execute,
  proposalPath,
  propose,
  proposeChange,
  proposeUpdate,
  read,
  reject,
  type Shown,
  startApi,
} from '../support/api';
import { changeMember, proposeHindered } from '../support/decisions';
import { sign, type TestMember, type TestOrganization, type TestService } from '../support/service';
import { networksFile, rpc, sharedStack, startOwnChain } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';
import { until } from '../support/until';
import { storeAccount } from '../workflows/world';

const STILL = 41_022;

let still: Awaited<ReturnType<typeof startOwnChain>>;
let api: TestService;
let temporal: Client;
let connection: Connection;
let org: TestOrganization;

beforeAll(async () => {
  still = await startOwnChain(STILL);
  const networks = [...sharedStack().chains, still.current].map(({ chainId, rpcUrl }) => ({
    id: chainId,
    name: `Chain ${chainId}`,
    rpcUrl,
  }));
  const file = networksFile(networks);
  api = await startApi({ env: { NETWORKS_FILE: file } });
  connection = await Connection.connect({ address: api.config.temporal.address });
  temporal = new Client({ connection, namespace: api.config.temporal.namespace });
});
afterAll(async () => {
  await connection?.close();
  await api?.stop();
  await still?.stop();
});
beforeEach(async () => {
  org = await api.createOrganization();
});

const names = (members: readonly { name: string }[]) => members.map(({ name }) => name).sort();
const codes = (proposal: Shown) => proposal.notes.map(({ code }: { code: string }) => code);
const show = (proposal: Shown): Promise<Shown> =>
  read(api.http, org.readKey, proposalPath(proposal.id, '', proposal.resourceType));

/** The member with another wallet. */
function movedTo(member: TestMember): TestMember {
  const privateKey = generatePrivateKey();
  return { ...member, privateKey, wallet: privateKeyToAccount(privateKey) };
}

/** The state of a proposal, by the API and (after a refresh signal) by its workflow. */
async function expectStanding(
  proposal: Shown,
  expected: { status: string; threshold?: number; approvals: string[] },
) {
  const { status, threshold = 2, approvals } = expected;
  const shown = await show(proposal);
  expect([shown.signatureStatus, shown.threshold, names(shown.approvals)]).toEqual([
    status,
    threshold,
    approvals,
  ]);
  const handle = temporal.workflow.getHandle(
    approvalWorkflowId({
      subject: 'proposal',
      organizationId: org.id,
      resourceType: proposal.resourceType,
      id: proposal.id,
    }),
  );
  await until('the workflow has read the record again', async () => {
    const state = await handle.query<Shown>('state');
    return (
      state.threshold === threshold &&
      state.signatureStatus === status &&
      codes(state).join() === codes(shown).join()
    );
  });
  return shown;
}

async function expectNotYet(proposal: Shown) {
  const answer = await execute(api.http, org.adminKey, proposal.id, 'approve', proposal.resourceType);
  expect([answer.status, answer.body.code]).toEqual([422, 'thresholdNotMet']);
}

async function signs(proposal: Shown, member: TestMember, more: { execute?: boolean } = {}): Promise<Shown> {
  const answer = await sign(api.http, org.adminKey, proposal, member, 'approve', more);
  if (answer.status !== 200) throw new Error(`signing → ${answer.status} ${answer.text}`);
  return answer.body.data;
}

async function expectExecuted(proposal: Shown, member: TestMember, approvals: string[]) {
  const done = await signs(proposal, member, { execute: true });
  expect([done.executionStatus, names(done.approvals)]).toEqual(['completed', approvals]);
}

const newMember = () =>
  proposeChange(api.http, org, '/members/proposals/create', {
    items: [{ name: 'Erin', walletAddress: movedTo(org.dave).wallet.address }],
  });
const changeAdmins = (updates: object[], threshold: number) =>
  change(api.http, org, '/admins/proposals/update', { updates, threshold });

describe('an admin is removed', () => {
  const remove = (member: TestMember) => changeAdmins([{ action: 'removeMember', id: member.id }], 2);

  itDeep('before the votes: cannot vote', async () => {
    const proposal = await newMember();
    await remove(org.carol);
    await expectStanding(proposal, { status: 'pendingReviewSignatures', approvals: [] });
    const answer = await sign(api.http, org.adminKey, proposal, org.carol);
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    await signs(proposal, org.alice);
    await expectExecuted(proposal, org.bob, ['Alice', 'Bob']);
  });

  it('between the votes: their vote no longer counts, with a note', async () => {
    const proposal = await newMember();
    await signs(proposal, org.carol);
    await remove(org.carol);
    const shown = await expectStanding(proposal, { status: 'pendingReviewSignatures', approvals: [] });
    expect(shown.notes).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        code: 'adminRemoved',
        message: `"Carol" (${org.carol.id}) is not an admin anymore: their signatures no longer count`,
      },
    ]);
    await signs(proposal, org.alice);
    await expectNotYet(proposal);
    await expectExecuted(proposal, org.bob, ['Alice', 'Bob']);
  });

  itDeep('when ready: needs another vote; counts again when they are an admin again', async () => {
    const proposal = await newMember();
    await signs(proposal, org.carol);
    await signs(proposal, org.alice);
    await expectStanding(proposal, { status: 'approvalReady', approvals: ['Alice', 'Carol'] });
    await remove(org.carol);
    await expectStanding(proposal, { status: 'pendingReviewSignatures', approvals: ['Alice'] });
    await expectNotYet(proposal);
    await changeAdmins([{ action: 'addMember', id: org.carol.id }], 2);
    const shown = await expectStanding(proposal, { status: 'approvalReady', approvals: ['Alice', 'Carol'] });
    expect(codes(shown)).toEqual(['adminRemoved', 'adminAdded']);
    const answer = await execute(api.http, org.adminKey, proposal.id, 'approve', 'members');
    expect(answer.body.data.executionStatus).toBe('completed');
  });
});

describe('the threshold is raised', () => {
  const raise = () => changeAdmins([], 3);

  it('before the votes', async () => {
    const proposal = await newMember();
    await raise();
    const shown = await expectStanding(proposal, {
      status: 'pendingReviewSignatures',
      threshold: 3,
      approvals: [],
    });
    expect(shown.notes[0]).toMatchObject({
      code: 'thresholdChanged',
      message: 'the admin threshold is 3 now; it was 2',
    });
  });

  it.each([
    ['between the votes', ['Alice']],
    ['ready', ['Alice', 'Bob']],
  ])('%s', async (_, approvals) => {
    const proposal = await newMember();
    await signs(proposal, org.alice);
    if (approvals.length > 1) await signs(proposal, org.bob);
    await raise();
    await expectStanding(proposal, { status: 'pendingReviewSignatures', threshold: 3, approvals });
    await expectNotYet(proposal);
    if (approvals.length === 1) await signs(proposal, org.bob);
    await expectExecuted(proposal, org.carol, ['Alice', 'Bob', 'Carol']);
  });
});

describeDeep('the threshold is lowered', () => {
  const lower = () => changeAdmins([], 1);

  it('before the votes: one is enough', async () => {
    const proposal = await newMember();
    await lower();
    await expectStanding(proposal, { status: 'pendingReviewSignatures', threshold: 1, approvals: [] });
    await expectExecuted(proposal, org.carol, ['Carol']);
  });

  it.each([
    ['between the votes', ['Alice']],
    ['ready', ['Alice', 'Bob']],
  ])('%s: it is ready for execution', async (_, approvals) => {
    const proposal = await newMember();
    await signs(proposal, org.alice);
    if (approvals.length > 1) await signs(proposal, org.bob);
    await lower();
    const shown = await expectStanding(proposal, { status: 'approvalReady', threshold: 1, approvals });
    expect(shown.executionStatus).toBeNull();
    const answer = await execute(api.http, org.adminKey, proposal.id, 'approve', 'members');
    expect(answer.body.data).toMatchObject({ executionStatus: 'completed', threshold: 1 });
    expect(names(answer.body.data.approvals)).toEqual(approvals);
  });
});

describe("an admin's wallet changes", () => {
  async function move(member: TestMember): Promise<TestMember> {
    const moved = movedTo(member);
    await change(api.http, org, '/members/proposals/update', {
      items: [{ id: member.id, walletAddress: moved.wallet.address }],
    });
    return moved;
  }

  itDeep('before the votes: the old wallet is refused', async () => {
    const proposal = await newMember();
    const carol = await move(org.carol);
    const answer = await sign(api.http, org.adminKey, proposal, org.carol);
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    await signs(proposal, carol);
    await expectStanding(proposal, { status: 'pendingReviewSignatures', approvals: ['Carol'] });
  });

  it.each([
    ['between the votes', false],
    ['ready', true],
  ])('%s: the old signature no longer counts, and the new wallet may sign', async (_, ready) => {
    const proposal = await newMember();
    await signs(proposal, org.carol);
    if (ready) await signs(proposal, org.alice);
    const carol = await move(org.carol);
    const shown = await expectStanding(proposal, {
      status: 'pendingReviewSignatures',
      approvals: ready ? ['Alice'] : [],
    });
    expect(shown.notes).toEqual([
      {
        at: expect.any(String),
        code: 'walletChanged',
        message: expect.stringContaining(
          `changed from ${org.carol.wallet.address} to ${carol.wallet.address}: only signatures of the new wallet count`,
        ),
      },
    ]);
    await expectNotYet(proposal);
    if (!ready) await signs(proposal, org.alice);
    await expectExecuted(proposal, carol, ['Alice', 'Carol']);
  });
});

describe('a resource of a proposal is removed', () => {
  const STEPS: readonly [string, number][] = [
    ['before the votes', 0],
    ['between the votes', 1],
    ['ready', 2],
  ];

  /** Signs as far as the step says, lets the world change, and finishes the votes: a check refuses, nothing changes. */
  async function expectBlocked(
    votes: number,
    proposal: Shown,
    worldChanges: () => Promise<unknown>,
    expected: { note?: string; message: string },
  ) {
    const signers = [org.alice, org.bob];
    for (const member of signers.slice(0, votes)) await signs(proposal, member);
    await worldChanges();
    if (expected.note !== undefined) expect(codes(await show(proposal))).toEqual([expected.note]);
    for (const member of signers.slice(votes)) await signs(proposal, member);
    const answer = await execute(api.http, org.adminKey, proposal.id, 'approve', proposal.resourceType);
    expect(answer.body.data).toMatchObject({
      executionStatus: 'blocked',
      signatureStatus: 'approvalReady',
      failure: { code: 'stale', message: expect.stringContaining(expected.message) },
    });
    expect(answer.body.data.result).toBeUndefined();
    const rejected = await reject(api.http, org, proposal);
    expect(rejected.result).toEqual({ resolution: 'rejected', resources: [] });
    expect(await api.db('claims').where({ organization_id: org.id })).toEqual([]);
  }

  it.each(STEPS)('a member, %s', async (_, votes) => {
    const body = { items: [{ name: 'Traders', memberIds: [org.dave.id, org.bot.id] }] };
    const proposal = await proposeChange(api.http, org, '/groups/proposals/create', body);
    const remove = () => change(api.http, org, '/members/proposals/remove', { ids: [org.dave.id] });
    await expectBlocked(votes, proposal, remove, { note: 'memberRemoved', message: org.dave.id });
    expect(await read(api.http, org.readKey, '/api/v1/groups')).toEqual([]);
  });

  itDeep.each(STEPS)('a group, %s', async (_, votes) => {
    const body = { items: [{ name: 'Traders', memberIds: [org.dave.id] }] };
    const made = await change(api.http, org, '/groups/proposals/create', body);
    const id = made.result.resources[0].id;
    const proposal = await proposeChange(api.http, org, '/policies/proposals/add', {
      policies: [
        {
          name: 'Small',
          type: 'MANUAL_APPROVAL',
          transactionType: 'ANY',
          networkId: 31337,
          accountIds: null,
          initiatorSetting: null,
          approverSetting: { type: 'group', groupId: id, threshold: 1 },
        },
      ],
    });
    const remove = () => change(api.http, org, '/groups/proposals/delete', { items: [{ id }] });
    await expectBlocked(votes, proposal, remove, { note: 'groupDeleted', message: id });
    expect(await read(api.http, org.readKey, '/api/v1/policies')).toEqual([]);
  });

  itDeep.each(STEPS)('an account, %s', async (_, votes) => {
    const id = await storeAccount(api.db, org);
    const proposal = await proposeUpdate(api.http, org, { id, name: 'After' });
    // No operation takes an account away yet.
    const remove = () => org.decide([{ type: 'account', id, after: null }]);
    await expectBlocked(votes, proposal, remove, { message: id });
  });

  itDeep.each(STEPS)('the wallet of a new member is taken, %s', async (_, votes) => {
    const proposal = await newMember();
    const { walletAddress } = proposal.data.items[0];
    // The claim keeps every other proposal off.
    const take = () => changeMember(api.db, org, org.dave.id, { walletAddress });
    await expectBlocked(votes, proposal, take, { message: walletAddress });
  });

  it('a changed wallet blocks a proposal that names the member', async () => {
    const body = { items: [{ name: 'Traders', memberIds: [] }] };
    const made = await change(api.http, org, '/groups/proposals/create', body);
    const proposal = await proposeChange(api.http, org, '/groups/proposals/update', {
      items: [{ id: made.result.resources[0].id, memberUpdates: [{ action: 'addMember', id: org.dave.id }] }],
    });
    const move = () =>
      change(api.http, org, '/members/proposals/update', {
        items: [{ id: org.dave.id, walletAddress: movedTo(org.dave).wallet.address }],
      });
    await expectBlocked(1, proposal, move, { note: 'walletChanged', message: 'Dave' });
  });

  itDeep('executes with the same signatures after the change is undone', async () => {
    const { proposal, hinder, free } = await proposeHindered(api, org);
    await hinder();
    expect(await approve(api.http, org, proposal)).toMatchObject({ executionStatus: 'blocked' });
    await free();
    const answer = await execute(api.http, org.adminKey, proposal.id, 'approve', 'policies');
    expect(answer.body.data.executionStatus).toBe('completed');
  });
});

describe('the admins change while a proposal is being executed', () => {
  itDeep('it finishes with the votes of its beginning', async () => {
    const { http } = api;
    const proposal = await propose(http, org, { networkIds: [STILL] });
    await sign(http, org.adminKey, proposal, org.alice);
    await rpc(still.current.rpcUrl, 'evm_setAutomine', [false]);
    await sign(http, org.adminKey, proposal, org.bob, 'approve', { execute: true });
    const shown = () => read(http, org.readKey, proposalPath(proposal.id));
    expect((await shown()).executionStatus).toBe('processing');

    const moved = movedTo(org.alice);
    await change(http, org, '/members/proposals/update', {
      items: [{ id: org.alice.id, name: 'Alicia', walletAddress: moved.wallet.address }],
    });
    const admins = await proposeChange(http, org, '/admins/proposals/update', {
      updates: [{ action: 'removeMember', id: org.bob.id }],
      threshold: 3,
    });
    await sign(http, org.adminKey, admins, org.carol);
    await sign(http, org.adminKey, admins, moved, 'approve', { execute: true });
    await rpc(still.current.rpcUrl, 'evm_setAutomine', [true]);
    await rpc(still.current.rpcUrl, 'evm_mine', []);
    const done = await until(
      'the account is deployed',
      async () => {
        const found = await shown();
        return found.executionStatus !== 'processing' && found;
      },
      60_000,
    );
    expect(done).toMatchObject({ executionStatus: 'completed', threshold: 2 });
    expect(names(done.approvals)).toEqual(['Alice', 'Bob']);
    expect(codes(done)).toEqual(['walletChanged', 'thresholdChanged', 'adminRemoved']);
  });
});
