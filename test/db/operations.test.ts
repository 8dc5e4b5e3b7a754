import { randomUUID } from 'node:crypto';
import { createLifecycleActivities } from '../../activities/worker';
import type { Db } from '../../src/db/database';
import { decisionIn, findSeal } from '../../src/db/decisions';
import { newId } from '../../src/db/ids';
import { requireRow } from '../../src/db/rows';
import type { StoredProposal } from '../../src/db/storedProposals';
import type { Decision } from '../../src/domain/approval';
import type { JsonValue } from '../../src/domain/canonicalJson';
import { operationKindOf } from '../../src/operations';
import { planOperation } from '../../src/operations/plan';
import { createSteadyTime } from '../../src/signer/journal/steadyTime';
import { sealProposal } from '../../src/signer/seal';
import { createSignerContext, type SignerContext } from '../../src/signer/signerContext';
import { findProposal } from '../../src/signer/store/proposalsToSeal';
import { type Key, NOBODY, WALLET_KEYS } from './operationKeys';
import { type Stage, setStage, World } from './operationWorld';
import type { Request } from './organization.model';

/** The signer's clock may be so far ahead of the database's: less than a minute. */
const AHEAD_SECONDS = 50;

let stage: Stage;
let world: World;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.end());
beforeEach(async () => {
  world = await World.make(stage);
});

const [ALICE, BOB, CAROL, BOT] = WALLET_KEYS as [Key, Key, Key, Key];

const ERIN = {
  name: 'Erin',
  type: 'user',
  walletAddress: WALLET_KEYS[8]?.address ?? '',
  walletKind: 'key',
} as const;
const WELL_KNOWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const aMember = { kind: 'members/create', items: [ERIN] } as const satisfies Request;
const aGroup: Request = { kind: 'groups/create', items: [{ name: 'New', memberIds: [] }] };
const anAccount: Request = { kind: 'accounts/create', items: [{ name: 'New', networkIds: [11] }] };

const keyOf = (id: string) => ({ organizationId: world.organizationId, id });

/** Proposes, and has it signed by two admins. */
async function signed(request: Request, type: Decision = 'approve', voters = [ALICE, BOB]): Promise<string> {
  const { id, refusal } = await world.propose(request);
  expect(refusal).toBeUndefined();
  await sign(id, type, voters);
  return id;
}

async function sign(id: string, type: Decision = 'approve', voters = [ALICE, BOB]): Promise<void> {
  await world.look();
  for (const { address } of voters) expect(await world.vote(id, type, { signer: address })).toBeUndefined();
}

function begin(id: string, type: Decision = 'approve', messageId: string = randomUUID()) {
  return stage.activities.beginExecution({ subject: 'proposal', ...keyOf(id), messageId, type });
}

const seal = (id: string, signer = stage.signer) => sealProposal(signer, keyOf(id));

/** Has the worker carry out what is sealed, or end the execution. */
async function carryOut(id: string, result: Awaited<ReturnType<typeof seal>>) {
  return (await stage.activities.applySeal({ ...keyOf(id), result })).state;
}

const nameOfMembers = () =>
  stage.owner('members').where({ organization_id: world.organizationId, removed_at: null }).pluck('name');

/** What the signer refuses is blocked, with its reason, and changes nothing. */
async function expectRefused(
  id: string,
  code: string,
  message: string,
  signer?: SignerContext,
): Promise<void> {
  const result = await seal(id, signer);
  expect(result).toEqual({ refused: { code, message: expect.stringContaining(message) } });
  expect(await findSeal(stage.owner, id)).toBeUndefined();
  expect(await carryOut(id, result)).toMatchObject({
    executionStatus: 'blocked',
    closed: false,
    failure: { code, message: expect.stringContaining(message), attempt: 1 },
  });
  expect(await nameOfMembers()).not.toContain('Erin');
}

describe('a vote that executes', () => {
  const votesOf = (id: string) => stage.owner('votes').where({ approval_id: id }).orderBy('id').pluck('type');
  const evidenceOf = (id: string) => stage.owner('evidence').where({ approval_id: id });

  it('begins the execution of an approval with it, once', async () => {
    const id = await signed(aMember, 'approve', [ALICE]);
    const [messageId, by] = [randomUUID(), { signer: BOB.address, execute: true }];
    const begun = await world.recordVote(id, 'approve', { ...by, messageId });
    expect(begun).toMatchObject({ ok: true, state: { executionStatus: 'processing', ready: [] } });
    expect(await world.recordVote(id, 'approve', { ...by, messageId })).toEqual(begun);
    expect(await begin(id, 'approve', `${messageId}/execute`)).toEqual(begun);
    expect(await votesOf(id)).toEqual(['approve', 'approve']);
    expect(await evidenceOf(id)).toHaveLength(1);
    const audit = stage.owner('audit_log').where({ resource_id: id }).orderBy('position', 'desc').limit(2);
    expect(await audit.pluck('action')).toEqual(['proposal.executionStarted', 'proposal.signed']);
  });

  it('is stored where earlier votes cannot be verified now', async () => {
    const id = await signed(aMember, 'approve', [ALICE]);
    const { identifyVoter } = stage.deps;
    const activities = createLifecycleActivities({
      ...stage.deps,
      // Votes that are verified again have no role.
      identifyVoter: async (asked) => {
        if (asked.role === undefined) throw new SyntaxError('Cannot convert 0x to a BigInt');
        return identifyVoter(asked);
      },
    });
    const voted = await world
      .with(activities)
      .recordVote(id, 'approve', { signer: BOB.address, execute: true });
    expect(voted).toMatchObject({ ok: true, state: { executionStatus: null, ready: ['approve'] } });
    expect(await votesOf(id)).toEqual(['approve', 'approve']);
    expect(await evidenceOf(id)).toEqual([]);
    expect(await begin(id)).toMatchObject({ ok: true, state: { executionStatus: 'processing' } });
  });

  it('is stored where the message of its execution was taken before', async () => {
    const id = await signed(aMember, 'approve', []);
    const first = { signer: ALICE.address, messageId: 'a/execute' };
    expect(await world.vote(id, 'approve', first)).toBeUndefined();
    const voted = await world.recordVote(id, 'approve', {
      ...{ signer: BOB.address, messageId: 'a', execute: true },
    });
    expect(voted).toMatchObject({ ok: true, state: { executionStatus: null, ready: ['approve'] } });
    expect(await votesOf(id)).toEqual(['approve', 'approve']);
  });
});

describe('a decision that is sealed and not carried out yet', () => {
  it('cannot be voted on, executed or expired, and shows nothing', async () => {
    const id = await signed(aMember);
    expect(await begin(id)).toMatchObject({ ok: true, state: { executionStatus: 'processing' } });
    expect(await seal(id)).toEqual({ sealed: 1 });
    expect(await world.vote(id, 'reject', { signer: CAROL.address })).toBe('conflict');
    expect(await begin(id)).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    expect(await begin(id, 'reject')).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    await world.expire(id);
    expect(await nameOfMembers()).not.toContain('Erin');
    const record = requireRow(await findProposal(stage.owner, world.organizationId, id));
    expect(record).toMatchObject({ executionStatus: 'processing', closed: false, applied: false });
    // The seal counts, not what the caller says of it.
    expect(await carryOut(id, { refused: { code: 'stale', message: 'lost' } })).toMatchObject({
      executionStatus: 'completed',
      closed: true,
    });
    expect(await nameOfMembers()).toContain('Erin');
    await world.look();
    await world.expectSound();
  });

  it('is sealed once, however often it is asked for at the same time', async () => {
    const ids = [await signed(aMember), await signed(aGroup)];
    for (const id of ids) await begin(id);
    const results = await Promise.all([...ids, ...ids, ...ids].map((one) => seal(one)));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(2);
    expect(results.slice(0, 2)).toEqual(results.slice(2, 4));
    for (const [i, id] of ids.entries()) await carryOut(id, requireRow(results[i]));
    await world.look();
    await world.expectSound();
  });

  it('is carried out in the order of the seals, with whichever comes first', async () => {
    const [one, two] = [await signed(aMember), await signed(aGroup)];
    for (const id of [one, two]) await begin(id);
    const [first, second] = [await seal(one), await seal(two)];
    expect([first, second]).toEqual([{ sealed: 1 }, { sealed: 2 }]);
    expect(await carryOut(two, second)).toMatchObject({ executionStatus: 'completed' });
    expect(await nameOfMembers()).toContain('Erin');
    expect(await findProposal(stage.owner, world.organizationId, one)).toMatchObject({
      executionStatus: 'processing',
      closed: false,
    });
    expect(await carryOut(one, first)).toMatchObject({ executionStatus: 'completed' });
    const { audit } = await world.look();
    expect(audit.filter(({ action }) => /^(member|group)\./.test(action))).toHaveLength(2);
    await world.expectSound();
  });

  it('is not carried out because somebody says that it is sealed', async () => {
    const id = await signed(aMember);
    await begin(id);
    expect(await carryOut(id, { sealed: 1 })).toMatchObject({ executionStatus: 'processing', closed: false });
    expect(await nameOfMembers()).not.toContain('Erin');
    expect(await carryOut(id, await seal(id))).toMatchObject({ executionStatus: 'completed' });
    await world.look();
    await world.expectSound();
  });

  it('is a rejection for ever, even where the record says otherwise', async () => {
    const id = await signed(aMember, 'reject');
    for (const { address } of [ALICE, BOB]) await world.vote(id, 'approve', { signer: address });
    await begin(id, 'reject');
    expect(await carryOut(id, await seal(id))).toMatchObject({ executionStatus: 'rejected' });
    const stored = requireRow(await findSeal(stage.owner, id));
    expect(decisionIn(stored)).toMatchObject({ resolution: 'rejected', changes: [] });
    await world.look();
    await world.expectSound();
    await stage
      .owner('approvals')
      .where({ id })
      .update({ execution_status: null, closed_at: null, frozen: null });
    expect(await begin(id)).toMatchObject({ ok: true, state: { executionStatus: 'processing' } });
    expect(await carryOut(id, await seal(id))).toMatchObject({ executionStatus: 'rejected' });
    expect(await nameOfMembers()).not.toContain('Erin');
  });
});

describe('the signer refuses', () => {
  it('what reaches it after its time', async () => {
    const { id } = await world.propose(aMember);
    await stage
      .owner('approvals')
      .where({ id })
      .update({
        expires_at: stage.owner.raw(`date_trunc('second', now()) + interval '${AHEAD_SECONDS} seconds'`),
      });
    await sign(id);
    await begin(id);
    const { expiresAt } = requireRow(await findProposal(stage.owner, world.organizationId, id));
    const steady = createSteadyTime(() => expiresAt.getTime() + 1);
    const late = createSignerContext({ ...stage.signer, steady });
    await expectRefused(id, 'timeout', 'expired before the signer could seal it', late);
    await world.look();
  });

  it('what an admin signed who has been removed since its execution began', async () => {
    const id = await signed(aMember);
    const alice = requireRow(world.last.members.find(({ name }) => name === 'Alice')).id;
    const removal = await signed(
      { kind: 'admins/update', updates: [{ action: 'removeMember', id: alice }], threshold: 2 },
      'approve',
      [CAROL, BOT],
    );
    await begin(id);
    expect(await world.execute(removal, 'approve')).toMatchObject({ refusal: undefined });
    await expectRefused(id, 'stale', 'the signer found 1 valid signatures of current admins');
    await world.look();
    await world.expectSound();
  });

  it('what admins have signed who are in the tables alone', async () => {
    const { organizationId: organization_id } = world;
    const { id } = await world.propose(aMember);
    await world.look();
    const member_id = newId('mem');
    await world.intrude({
      id: member_id,
      name: 'Eve',
      type: 'user',
      walletAddress: NOBODY.address,
      walletKind: 'key',
    });
    await stage.service('admin_set_members').insert({ organization_id, member_id });
    await stage.service('admin_sets').where({ organization_id }).update({ threshold: 1 });
    expect(await world.vote(id, 'approve', { signer: NOBODY.address })).toBeUndefined();
    expect(await begin(id)).toMatchObject({ ok: true, state: { executionStatus: 'processing' } });
    await expectRefused(id, 'stale', 'the signer found 0 valid signatures of current admins');
  });

  it('what is not what was signed', async () => {
    const id = await signed(aMember);
    await begin(id);
    const { data } = requireRow(await findProposal(stage.owner, world.organizationId, id));
    const text = JSON.stringify(data).replaceAll(WALLET_KEYS[8]?.address ?? '', NOBODY.address);
    await stage.owner('proposals').where({ id }).update({ data: text });
    await expectRefused(id, 'stale', 'the signer found 0 valid signatures of current admins');
  });

  describe('what a service that lies has had signed:', () => {
    /** Has two admins sign what the record says by then. */
    async function signedAs(
      request: Request,
      lie: (record: StoredProposal) => Partial<StoredProposal>,
    ): Promise<string> {
      const { id, refusal } = await world.propose(request);
      expect(refusal).toBeUndefined();
      await world.look();
      const record = requireRow(await findProposal(stage.owner, world.organizationId, id));
      const content = lie(record);
      const { summary, data } = { ...record, ...content };
      await stage.owner('approvals').where({ id }).update({ summary });
      await stage
        .owner('proposals')
        .where({ id })
        .update({ data: JSON.stringify(data) });
      for (const { address } of [ALICE, BOB])
        expect(await world.vote(id, 'approve', { signer: address, content })).toBeUndefined();
      expect(await begin(id)).toMatchObject({ ok: true });
      return id;
    }

    it('the summary of something else', async () => {
      const id = await signedAs(aMember, () => ({ summary: 'Rename group "A" (grp_1) to "B"' }));
      await expectRefused(
        id,
        'stale',
        `the summary of proposal ${id} is not what it does now: it says "Rename`,
      );
    });

    it('its own summary with the data of something else', async () => {
      const id = await signedAs(aMember, ({ data }) => ({
        data: JSON.parse(JSON.stringify(data).replace(ERIN.walletAddress, NOBODY.address)),
      }));
      await expectRefused(id, 'stale', `instead of "${NOBODY.address})"`);
    });

    it('an admin under the name of another member', async () => {
      const dave = requireRow(world.last.members.find(({ name }) => name === 'Dave'));
      const admins: Request = {
        kind: 'admins/update',
        updates: [{ action: 'addMember', id: dave.id }],
        threshold: 2,
      };
      const id = await signedAs(admins, ({ data, summary }) => ({
        data: JSON.parse(JSON.stringify(data).replace('"Dave"', '"Alicia"')),
        summary: summary.replace('"Dave"', '"Alicia"'),
      }));
      await expectRefused(id, 'stale', `member "Dave" (${dave.id}), of type user, is shown as "Alicia"`);
    });

    it('data with a field that nobody reads', async () => {
      const id = await signedAs(aGroup, ({ data }) => ({
        data: { policies: [], ...(data as object) },
      }));
      await expectRefused(id, 'stale', 'has fields that do not belong to it');
    });
  });

  it('what is based on a state that it has not sealed', async () => {
    const id = await signed(aMember);
    await begin(id);
    const { organizationId: organization_id } = world;
    const { state } = requireRow(await stage.owner('sealed_states').where({ organization_id }).first());
    const forged = state.replaceAll(ALICE.address, NOBODY.address);
    await stage.owner('sealed_states').where({ organization_id }).update({ state: forged });
    await expectRefused(id, 'stale', 'is not the one that was sealed');
  });

  it('what nobody executes, and what is on a network that it does not know', async () => {
    const id = await signed(anAccount);
    expect(await seal(id)).toEqual({
      refused: { code: 'stale', message: expect.stringContaining('is not being executed') },
    });
    await begin(id);
    const elsewhere = createSignerContext({ ...stage.signer, networks: [] });
    expect(await sealProposal(elsewhere, keyOf(id))).toEqual({
      refused: { code: 'stale', message: expect.stringContaining('network 11 is not configured') },
    });
    expect(await seal(id)).toEqual({ sealed: 1 });
  });

  it('a well-known key in production, where none can be proposed either', async () => {
    const production = createSignerContext({ ...stage.signer, production: true });
    const demo = { ...aMember, items: [{ ...ERIN, walletAddress: WELL_KNOWN }] } as const;
    const id = await signed(demo);
    await begin(id);
    const message = `${WELL_KNOWN} of "Erin" has a well-known private key: not allowed in production`;
    expect(await sealProposal(production, keyOf(id))).toEqual({ refused: { code: 'stale', message } });
    const plan = (items: object[]) =>
      planOperation(
        { ...stage.deps, networks: [], production: true },
        world.organizationId,
        operationKindOf('members', 'create'),
        { items } as JsonValue,
      );
    expect(await plan([{ ...ERIN, name: 'Frank' }, demo.items[0]])).toEqual({
      ok: false,
      refusal: { code: 'validationError', message, field: 'items[1].walletAddress' },
    });
    expect(await plan([ERIN])).toMatchObject({ ok: true });
    expect(await seal(id)).toEqual({ sealed: 1 });
  });
});

it('remembers what it has sealed', async () => {
  const id = await signed(aMember);
  await begin(id);
  const result = await seal(id);
  const unread = undefined as unknown as Db;
  const { readSealedState } = stage.signer;
  const { state, stored } = await readSealedState(unread, world.organizationId, { remembered: true });
  expect(result).toEqual({ sealed: stored.sequence });
  expect(state).toEqual((await readSealedState(stage.signer.db, world.organizationId)).state);
});

describe('rows that somebody has put in the way', () => {
  it('of a wallet do not keep the decision from being carried out', async () => {
    const id = await signed(aMember);
    await world.intrude({
      id: newId('mem'),
      name: 'Eve',
      type: 'user',
      walletAddress: WALLET_KEYS[8]?.address ?? '',
      walletKind: 'key',
    });
    await begin(id);
    expect(await carryOut(id, await seal(id))).toMatchObject({ executionStatus: 'completed' });
    expect(await nameOfMembers()).toContain('Erin');
    expect(await nameOfMembers()).not.toContain('Eve');
    const { audit } = await world.look();
    expect(audit.map(({ action }) => action)).toContain('member.differed');
    await world.expectSound();
  });

  it('of a wallet become what was decided by then, where a later decision waits to be carried out', async () => {
    const { members } = world.last;
    const dave = requireRow(members.find(({ name }) => name === 'Dave'));
    const renamed = { kind: 'members/update', items: [{ id: dave.id, name: 'David' }] } as const;
    const ids = [await signed(aMember), await signed(renamed)];
    for (const id of ids) await begin(id);
    const results = [await seal(requireRow(ids[0])), await seal(requireRow(ids[1]))];
    // Until both are sealed the tables show neither.
    await stage.owner('members').where({ id: dave.id }).update({ wallet_address: ERIN.walletAddress });
    for (const [i, id] of ids.entries()) await carryOut(id, requireRow(results[i]));
    expect(await nameOfMembers()).toEqual(expect.arrayContaining(['Erin', 'David']));
    const { audit } = await world.look();
    expect(audit.filter(({ action }) => action === 'member.differed')).toHaveLength(1);
    await world.expectSound();
  });
});
