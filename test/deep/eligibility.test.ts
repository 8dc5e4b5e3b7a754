import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { requireRow } from '../../src/db/rows';
import type { ProposalState } from '../../src/domain/proposal';
import type { MessageResult } from '../../src/temporal/messages';
import { execute, type Shown } from '../support/api';
import { changeAdmins, changeMember, dismissAdmin } from '../support/decisions';
import type { TestMember, TestOrganization } from '../support/service';
import { until } from '../support/until';
import {
  auditOf,
  ended,
  messages,
  proposeName,
  show,
  startWorld,
  storeAccount,
  vote,
  type World,
  workflowOf,
} from '../workflows/world';

let world: World;
let org: TestOrganization;
let accountId: string;
let proposal: Shown;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

beforeEach(async () => {
  org = await world.createOrganization();
  accountId = await storeAccount(world.db, org, 'Before');
  proposal = await proposeName(world, org, accountId, 'After');
});

// Admins change as they do by a proposal about them, without one.
const leave = (member: TestMember) =>
  changeAdmins(world.db, org, ({ memberIds }) => ({ memberIds: memberIds.filter((id) => id !== member.id) }));
const join = (member: TestMember) =>
  changeAdmins(world.db, org, ({ memberIds }) => ({ memberIds: [...memberIds, member.id].sort() }));
const setThreshold = (threshold: number) => changeAdmins(world.db, org, { threshold });
const move = (member: TestMember, walletAddress: string) =>
  changeMember(world.db, org, member.id, { walletAddress });

const ids = (members: readonly { id: string }[]) => members.map(({ id }) => id).sort();

interface Expected {
  readonly status: string;
  readonly threshold?: number;
  readonly approvals?: readonly TestMember[];
  readonly rejections?: readonly TestMember[];
}

/** The proposal stands like this for a reader of the API, and for whoever asks the workflow after a refresh. */
async function expectStanding({ status, threshold = 2, approvals = [], rejections = [] }: Expected) {
  const shown = await show(world, org, proposal);
  const handle = workflowOf(world, org, proposal);
  await handle.signal(messages.refresh);
  const state = await until('the workflow has read the record again', async () => {
    const found = await handle.query<Shown>('state');
    return (
      found.threshold === threshold &&
      found.signatureStatus === status &&
      ids(found.approvals).join() === ids(approvals).join() &&
      found
    );
  });
  for (const seen of [shown, state]) {
    expect({
      status: seen.signatureStatus,
      threshold: seen.threshold,
      approvals: ids(seen.approvals),
      rejections: ids(seen.rejections),
    }).toEqual({ status, threshold, approvals: ids(approvals), rejections: ids(rejections) });
  }
}

/** Neither the API nor Temporal executes it, and nothing changes. */
async function expectNotExecuted(type: 'approve' | 'reject' = 'approve') {
  const before = await org.stored();
  const answer = await execute(world.http, org.adminKey, proposal.id, type);
  expect([answer.status, answer.body.code]).toEqual([422, 'thresholdNotMet']);
  const result: MessageResult<ProposalState> = await workflowOf(world, org, proposal).executeUpdate(
    messages.execute,
    {
      updateId: randomUUID(),
      args: [{ type }],
    },
  );
  expect(result).toMatchObject({ ok: false, refusal: { code: 'thresholdNotMet' } });
  expect(await org.stored()).toEqual(before);
}

async function nameNow(): Promise<string> {
  return requireRow(await world.db('accounts').where({ id: accountId }).first('name')).name;
}

async function expectExecuted() {
  const answer = await execute(world.http, org.adminKey, proposal.id);
  expect(answer.body.data).toMatchObject({ executionStatus: 'completed' });
  expect(await nameNow()).toBe('After');
}

describe('before any vote', () => {
  it('shows the current threshold', async () => {
    await expectStanding({ status: 'pendingReviewSignatures' });
    await setThreshold(3);
    await expectStanding({ status: 'pendingReviewSignatures', threshold: 3 });
  });

  it('refuses the vote of a removed admin', async () => {
    await leave(org.alice);
    expect(await vote(world, org, proposal, org.alice)).toMatchObject({
      ok: false,
      refusal: { code: 'forbidden' },
    });
    await expectStanding({ status: 'pendingReviewSignatures' });
  });

  it('accepts the vote of a new admin', async () => {
    await join(org.dave);
    expect(await vote(world, org, proposal, org.dave)).toMatchObject({ ok: true });
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.dave] });
  });

  it('refuses a vote of an admin’s old wallet', async () => {
    await move(org.alice, privateKeyToAccount(generatePrivateKey()).address);
    expect(await vote(world, org, proposal, org.alice)).toMatchObject({
      ok: false,
      refusal: { code: 'forbidden' },
    });
  });
});

describe('between the votes', () => {
  beforeEach(() => vote(world, org, proposal, org.alice));

  it('does not count the vote of a removed admin until they are added again', async () => {
    await leave(org.alice);
    await expectStanding({ status: 'pendingReviewSignatures' });
    await vote(world, org, proposal, org.bob);
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.bob] });
    await expectNotExecuted();
    await join(org.alice);
    await expectStanding({ status: 'approvalReady', approvals: [org.alice, org.bob] });
    await expectExecuted();
  });

  it('is ready as soon as the threshold is low enough', async () => {
    await setThreshold(1);
    await expectStanding({ status: 'approvalReady', threshold: 1, approvals: [org.alice] });
    await expectExecuted();
  });

  it('counts a vote only with its wallet, and accepts another with the new one', async () => {
    const privateKey = generatePrivateKey();
    const moved = { ...org.alice, privateKey, wallet: privateKeyToAccount(privateKey) };
    await move(org.alice, moved.wallet.address);
    await expectStanding({ status: 'pendingReviewSignatures' });
    expect(await vote(world, org, proposal, moved)).toMatchObject({ ok: true });
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.alice] });
    expect(await vote(world, org, proposal, moved)).toMatchObject({
      ok: false,
      refusal: { code: 'conflict' },
    });
    // Both votes are kept; one member is never counted twice.
    await move(org.alice, org.alice.wallet.address);
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.alice] });
    await expectNotExecuted();
  });

  it('does not count the vote of a wallet for its next owner', async () => {
    await move(org.alice, privateKeyToAccount(generatePrivateKey()).address);
    await move(org.bob, org.alice.wallet.address);
    await expectStanding({ status: 'pendingReviewSignatures' });
  });
});

describe('when it is ready', () => {
  beforeEach(async () => {
    await vote(world, org, proposal, org.alice);
    await vote(world, org, proposal, org.bob);
    await expectStanding({ status: 'approvalReady', approvals: [org.alice, org.bob] });
  });

  it('needs another vote when the threshold rises', async () => {
    await setThreshold(3);
    await expectStanding({
      status: 'pendingReviewSignatures',
      threshold: 3,
      approvals: [org.alice, org.bob],
    });
    await expectNotExecuted();
    await vote(world, org, proposal, org.carol);
    await expectExecuted();
  });

  it('needs another vote when a voter is removed from the admins', async () => {
    await leave(org.bob);
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.alice] });
    await expectNotExecuted();
  });

  it('needs another vote when a voter is removed from the organization', async () => {
    await dismissAdmin(world.db, org, org.bob.id);
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.alice] });
    await expectNotExecuted();
  });

  it('needs another vote when the wallet of a voter changes', async () => {
    await move(org.bob, privateKeyToAccount(generatePrivateKey()).address);
    await expectStanding({ status: 'pendingReviewSignatures', approvals: [org.alice] });
    await expectNotExecuted();
  });

  it('only records a vote with execute when the threshold is not met any more', async () => {
    await setThreshold(4);
    const signed = await vote(world, org, proposal, org.carol, 'approve', { execute: true });
    expect(signed).toMatchObject({ ok: true, state: { executionStatus: null } });
    await expectStanding({
      status: 'pendingReviewSignatures',
      threshold: 4,
      approvals: [org.alice, org.bob, org.carol],
    });
    expect(await nameNow()).toBe('Before');
  });

  it('becomes ready for both when the rejections suffice as well', async () => {
    await vote(world, org, proposal, org.carol, 'reject');
    await vote(world, org, proposal, org.bot, 'reject');
    await expectStanding({
      status: 'approvalAndRejectionReady',
      approvals: [org.alice, org.bob],
      rejections: [org.carol, org.bot],
    });
    await leave(org.carol);
    await expectStanding({
      status: 'approvalReady',
      approvals: [org.alice, org.bob],
      rejections: [org.bot],
    });
    await expectNotExecuted('reject');
  });

  it('executes under admins that cannot change before it is committed', async () => {
    const removal = world.db.transaction(async (tx) => {
      await tx('admin_sets').where({ organization_id: org.id }).forUpdate();
      await tx('admin_set_members').where({ member_id: org.bob.id }).delete();
      // As every decision that is written into the tables does.
      await tx('organizations').where({ id: org.id }).increment('projected_sequence', 1);
      const executed = execute(world.http, org.adminKey, proposal.id);
      // The execution waits for the admins; what it saw before it began is not what counts.
      await until('the execution waits for the lock', async () => {
        const { rows } = await world.db.raw(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      });
      return { executed };
    });
    const answer = await (await removal).executed;
    expect([answer.status, answer.body.code]).toEqual([422, 'thresholdNotMet']);
    expect(await nameNow()).toBe('Before');
  });
});

describe('once closed', () => {
  async function expectFrozen() {
    const before = await show(world, org, proposal);
    const audited = await auditOf(world.db, proposal);
    await leave(org.alice);
    await setThreshold(1);
    await move(org.bob, privateKeyToAccount(generatePrivateKey()).address);
    await changeMember(world.db, org, org.bob.id, { name: 'Robert' });
    await dismissAdmin(world.db, org, org.carol.id);
    expect(await show(world, org, proposal)).toEqual(before);
    expect(await auditOf(world.db, proposal)).toEqual(audited);
    return before;
  }

  it('keeps names, addresses and threshold as they were at its execution', async () => {
    await vote(world, org, proposal, org.carol, 'reject');
    await vote(world, org, proposal, org.alice);
    await vote(world, org, proposal, org.bob, 'approve', { execute: true });
    expect(await ended(world, org, proposal)).toMatchObject({ executionStatus: 'completed', closed: true });
    const frozen = await expectFrozen();
    expect(frozen).toMatchObject({ threshold: 2, signatureStatus: 'approvalReady' });
    expect(ids(frozen.approvals)).toEqual(ids([org.alice, org.bob]));
    expect(frozen.approvals.map(({ name }: Shown) => name).sort()).toEqual(['Alice', 'Bob']);
    expect(ids(frozen.rejections)).toEqual([org.carol.id]);
  });

  it('keeps them as they were at its rejection', async () => {
    await vote(world, org, proposal, org.alice, 'reject');
    await vote(world, org, proposal, org.bob, 'reject', { execute: true });
    expect(await ended(world, org, proposal)).toMatchObject({ executionStatus: 'rejected', closed: true });
    const frozen = await expectFrozen();
    expect(frozen).toMatchObject({
      threshold: 2,
      signatureStatus: 'rejectionReady',
      result: { resolution: 'rejected', resources: [] },
    });
    expect(await nameNow()).toBe('Before');
  });
});
