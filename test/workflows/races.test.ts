/** @deep */

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { issueApiKey } from '../../src/credentials/apiKeys';
import { OPERATOR } from '../../src/domain/actor';
import type { Decision } from '../../src/domain/approval';
import { executeApproval, type MessageOutcome, signApproval } from '../../src/temporal/approvalMessages';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { execute, proposalPath, type Shown } from '../support/api';
import { decideDirectly, sign, type TestMember, type TestOrganization } from '../support/service';
import { storeRequest } from '../support/storedRequests';
import { DEEP, itDeep } from '../support/suite';
import {
  auditOf,
  ended,
  expectSoundAudit,
  proposeAccount,
  proposeName,
  show,
  startWorld,
  storeAccount,
  untilStatus,
  vote,
  voteOf,
  type World,
} from './world';

const ROUNDS = DEEP ? 16 : 5;
const CROWD = 20;

let world: World;
let org: TestOrganization;

beforeAll(async () => {
  world = await startWorld();
  org = await world.createOrganization();
});
afterAll(async () => {
  if (org) await expectSoundAudit(world.db, org);
  await world?.stop();
});

const count = (list: readonly string[], what: string) => list.filter((item) => item === what).length;

/** How the API sends: a closed workflow is not a failure, and neither are too many at once. */
const sender = (): WorkflowSender => ({
  client: world.temporal,
  queues: taskQueues(world.config.temporal.taskQueue),
  deadlineMs: 20_000,
});

const addressOf = (proposal: Shown, of = org) => ({
  subject: 'proposal' as const,
  organizationId: of.id,
  resourceType: proposal.resourceType,
  action: proposal.action,
  id: proposal.id,
});

/** Stores a request about a proposal, of an admin's key. Returns its id. */
const request = (of: TestOrganization, { id }: Shown, action: 'signatures' | 'execute', body: object) =>
  storeRequest(world.db, {
    ...{ organizationId: of.id, credentialId: of.adminKeyId },
    ...{ path: proposalPath(id, `/${action}`), body, resourceId: id },
  });

async function sendExecute(proposal: Shown, type: Decision): Promise<boolean> {
  const requestId = await request(org, proposal, 'execute', { type });
  const outcome = await executeApproval(sender(), addressOf(proposal), { requestId, type });
  return 'ok' in outcome && outcome.ok;
}

/** Sends a vote; `gone` when its workflow has ended meanwhile. */
async function sendVote(
  proposal: Shown,
  member: TestMember,
  more: { of?: TestOrganization; type?: Decision; execute?: boolean; requestId?: string } = {},
): Promise<MessageOutcome> {
  const { of = org, type = 'approve', execute = false } = more;
  const { signature } = await voteOf(member, proposal, type);
  const body = { type, signature, execute };
  const requestId = more.requestId ?? (await request(of, proposal, 'signatures', body));
  return signApproval(sender(), addressOf(proposal, of), { requestId, type, signature, execute });
}

const accepted = (outcome: MessageOutcome) => 'ok' in outcome && outcome.ok;

async function stored(proposal: Shown) {
  const [votes, evidence, messages] = await Promise.all([
    world.db('votes').where({ approval_id: proposal.id }),
    world.db('evidence').where({ approval_id: proposal.id }),
    world.db('received_messages').where({ approval_id: proposal.id }),
  ]);
  return { votes, evidence, executions: messages.filter(({ kind }) => kind === 'execute') };
}

/** A new name that enough admins have both approved and rejected. */
async function readyForBoth(name: string) {
  const accountId = await storeAccount(world.db, org, `Before ${name}`);
  const proposal = await proposeName(world, org, accountId, name);
  for (const type of ['approve', 'reject'] as const) {
    await vote(world, org, proposal, org.alice, type);
    await vote(world, org, proposal, org.bob, type);
  }
  return { accountId, proposal };
}

test(`approve and reject executed at the same time, ${ROUNDS} times: exactly one outcome, which is also the change`, async () => {
  const rounds = await Promise.all(
    Array.from({ length: ROUNDS }, async (_, round) => {
      const { accountId, proposal } = await readyForBoth(`After ${round}`);
      const ways: ((type: Decision) => Promise<boolean>)[] = [
        async (type) => (await execute(world.http, org.adminKey, proposal.id, type)).status === 200,
        (type) => sendExecute(proposal, type),
      ];
      // Who is first changes from round to round; every way competes with every other.
      const order: Decision[] = round % 2 === 0 ? ['approve', 'reject'] : ['reject', 'approve'];
      const contenders = order.flatMap((type) => ways.map((way) => ({ type, way })));
      if (round % 3 === 0) contenders.reverse();
      const won = await Promise.all(
        contenders.map(async ({ type, way }) => ((await way(type)) ? [type] : [])),
      );
      expect(won.flat()).toHaveLength(1);
      const [winner] = won.flat();
      const result = await ended(world, org, proposal);
      const account = await world.db('accounts').where({ id: accountId }).first('name');
      const audit = await auditOf(world.db, proposal);
      const { evidence, executions } = await stored(proposal);
      expect(result?.executionStatus).toBe(winner === 'approve' ? 'completed' : 'rejected');
      expect(account?.name).toBe(winner === 'approve' ? `After ${round}` : `Before After ${round}`);
      expect(audit.slice(5)).toEqual([
        'proposal.executionStarted',
        winner === 'approve' ? 'proposal.executed' : 'proposal.rejected',
      ]);
      expect(evidence.map(({ resolution }) => resolution)).toEqual([
        winner === 'approve' ? 'approved' : 'rejected',
      ]);
      expect(executions).toHaveLength(1);
      return winner;
    }),
  );
  process.stderr.write(`${count(rounds as string[], 'approve')} of ${ROUNDS} races were won by approval\n`);
});

test('two admins who sign and execute at once, one to approve and one to reject: one outcome, both votes kept', async () => {
  const proposal = await proposeName(world, org, await storeAccount(world.db, org), 'After');
  await vote(world, org, proposal, org.alice);
  await vote(world, org, proposal, org.alice, 'reject');
  const results = await Promise.all([
    sendVote(proposal, org.bob, { execute: true }),
    sendVote(proposal, org.carol, { type: 'reject', execute: true }),
  ]);
  const result = await ended(world, org, proposal);
  const { votes } = await stored(proposal);
  // A vote that came after the outcome is refused and not kept; one that was acknowledged is.
  expect(votes).toHaveLength(2 + results.filter(accepted).length);
  expect(['completed', 'rejected']).toContain(result?.executionStatus);
  const audit = await auditOf(world.db, proposal);
  expect(count(audit, 'proposal.executed') + count(audit, 'proposal.rejected')).toBe(1);
  expect(count(audit, 'proposal.signed')).toBe(votes.length);
});

describe(`${CROWD} at once`, () => {
  it('of the same vote in different messages: one is counted, the others refused', async () => {
    const proposal = await proposeAccount(world, org);
    const results = await Promise.all(Array.from({ length: CROWD }, () => sendVote(proposal, org.alice)));
    expect(results.filter(accepted)).toHaveLength(1);
    for (const result of results) {
      if (!accepted(result)) expect(result).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    }
    expect((await stored(proposal)).votes).toHaveLength(1);
    expect(await auditOf(world.db, proposal)).toEqual(['proposal.created', 'proposal.signed']);
  });

  itDeep('of the same message: all get one outcome', async () => {
    const proposal = await proposeAccount(world, org);
    const { signature } = await voteOf(org.alice, proposal);
    const requestId = await request(org, proposal, 'signatures', { type: 'approve', signature });
    const results = await Promise.all(
      Array.from({ length: CROWD }, () => sendVote(proposal, org.alice, { requestId })),
    );
    for (const result of results) expect(result).toEqual(results[0]);
    expect(results[0]).toMatchObject({ ok: true, state: { approvals: [{ id: org.alice.id }] } });
    expect(await auditOf(world.db, proposal)).toEqual(['proposal.created', 'proposal.signed']);
  });

  it('of different admins, each with execute: every acknowledged one is kept, with one execution', async () => {
    const { crowd, crowded, adminKey } = await crowdOf(CROWD, 11);
    const proposal = await proposeName(world, crowded, await storeAccount(world.db, crowded), 'After');
    const results = await Promise.all(
      crowd.map((member, index) =>
        index % 2 === 0
          ? sendVote(proposal, member, { of: crowded, execute: true }).then(accepted)
          : sign(world.http, adminKey, proposal, member, 'approve', { execute: true }).then(
              ({ status }) => status === 200,
            ),
      ),
    );
    expect(await ended(world, crowded, proposal)).toMatchObject({ executionStatus: 'completed' });
    const { votes, executions, evidence } = await stored(proposal);
    expect(votes.map(({ member_id }) => member_id).sort()).toEqual(
      crowd
        .filter((_, index) => results[index])
        .map(({ id }) => id)
        .sort(),
    );
    expect(votes.length).toBeGreaterThanOrEqual(11);
    expect(executions).toHaveLength(1);
    expect(evidence).toHaveLength(1);
    const audit = await auditOf(world.db, proposal);
    expect(count(audit, 'proposal.signed')).toBe(votes.length);
    expect(count(audit, 'proposal.executed')).toBe(1);
    expect((await show(world, crowded, proposal)).approvals).toHaveLength(votes.length);
    await expectSoundAudit(world.db, crowded);
  });
});

itDeep('of executions of one account: it is deployed once', async () => {
  const proposal = await proposeAccount(world, org, [31337, 31338]);
  await vote(world, org, proposal, org.alice);
  await vote(world, org, proposal, org.bob);
  const won = await Promise.all([
    ...Array.from({ length: 5 }, () => sendExecute(proposal, 'approve')),
    ...Array.from({ length: 5 }, () =>
      execute(world.http, org.adminKey, proposal.id).then(({ status }) => status === 200),
    ),
  ]);
  expect(won.filter(Boolean)).toHaveLength(1);
  const done = await untilStatus(world, org, proposal, 'completed');
  const accountId = done.result.resources[0].id;
  const attempts = await world.db('chain_attempts').where({ account_id: accountId });
  const envelopes = await world.db('chain_envelopes').whereIn(
    'attempt_id',
    attempts.map(({ id }) => String(id)),
  );
  expect([attempts.length, envelopes.length]).toEqual([2, 2]);
  expect(await auditOf(world.db, proposal)).toEqual([
    'proposal.created',
    'proposal.signed',
    'proposal.signed',
    'proposal.executionStarted',
    'proposal.executed',
  ]);
  expect(await auditOf(world.db, { id: accountId })).toEqual([
    'account.created',
    'account.deployed',
    'account.deployed',
  ]);
});

itDeep('of proposals that claim the same account: one is created', async () => {
  const accountId = await storeAccount(world.db, org);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      world.http.send({
        key: org.adminKey,
        path: '/api/v1/accounts/proposals/update',
        body: { items: [{ id: accountId, name: `Claim ${index}` }] },
      }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  const claims = await world.db('claims').where({ claim: `account:${accountId}` });
  expect(claims).toHaveLength(1);
});

/** An organization whose admins are many, with a bot among them. */
async function crowdOf(size: number, threshold: number) {
  const drafts = Array.from({ length: size }, (_, index) => {
    const privateKey = generatePrivateKey();
    const type: TestMember['type'] = index === 0 ? 'api' : 'user';
    return { name: `Admin ${index}`, type, privateKey, wallet: privateKeyToAccount(privateKey) };
  });
  const { organizationId, memberIds } = await world.found(
    'Crowd',
    threshold,
    drafts.map(({ name, type, wallet }) => ({ name, type, admin: true, wallet })),
  );
  const crowd: TestMember[] = drafts.map((draft, index) => ({ ...draft, id: memberIds[index] ?? '' }));
  const [bot] = crowd;
  if (!bot) throw new Error('a crowd has somebody');
  const { key: adminKey, id: adminKeyId } = await world.db.transaction((tx) =>
    issueApiKey(tx, { organizationId, memberIds: [bot.id], actor: OPERATOR }),
  );
  const keystore = await world.keystore();
  const crowded: TestOrganization = {
    ...org,
    id: organizationId,
    alice: bot,
    adminKey,
    adminKeyId,
    readKey: adminKey,
    decide: (edits) => decideDirectly(world.db, keystore, organizationId, edits),
  };
  return { crowd, crowded, adminKey };
}
