import { randomUUID } from 'node:crypto';
import { parseEther } from 'viem';
import { requireRow } from '../../src/db/rows';
import { executeApproval, retryApproval, signApproval } from '../../src/temporal/approvalMessages';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { execute, type Shown } from '../support/api';
import { sign, type TestOrganization } from '../support/service';
import { until } from '../support/until';
import {
  auditOf,
  ended,
  expectSoundAudit,
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

const LIFETIME = '20s';
const UNFUNDED = 31338;

let world: World;
let org: TestOrganization;
let accountId: string;
/** One approval, and nobody executes it. */
let signed: Shown;
/** On one network; the relayer of the other has no funds. */
let partly: Shown;
/** On none: its only network is the one without funds. */
let nowhere: Shown;

beforeAll(async () => {
  world = await startWorld({ env: { PROPOSAL_LIFETIME: LIFETIME } });
  org = await world.createOrganization();
  accountId = await storeAccount(world.db, org, 'Before');
  await setRelayerBalance(world, UNFUNDED, 0n);
  [signed, partly, nowhere] = await Promise.all([
    proposeName(world, org, accountId, 'After'),
    proposeAccount(world, org, [31337, UNFUNDED]),
    proposeAccount(world, org, [UNFUNDED]),
  ]);
  await vote(world, org, signed, org.alice);
  await Promise.all(
    [partly, nowhere].map(async (proposal) => {
      await vote(world, org, proposal, org.alice);
      await vote(world, org, proposal, org.bob, 'approve', { execute: true });
      await untilStatus(world, org, proposal, 'failed');
    }),
  );
  await Promise.all(
    [signed, partly, nowhere].map((proposal) =>
      until(`the expiry of ${proposal.id} is recorded`, async () =>
        (await auditOf(world.db, proposal)).includes('proposal.expired'),
      ),
    ),
  );
});
afterAll(async () => {
  if (org) await expectSoundAudit(world.db, org);
  await world?.stop();
});

const sender = (): WorkflowSender => ({
  client: world.temporal,
  queues: taskQueues(world.config.temporal.taskQueue),
  deadlineMs: 10_000,
});
const addressOf = (proposal: Shown) => ({
  subject: 'proposal' as const,
  organizationId: org.id,
  resourceType: proposal.resourceType,
  action: proposal.action,
  id: proposal.id,
});
const claimsOf = (proposal: Shown) => world.db('claims').where({ approval_id: proposal.id });

describe('a proposal that is not executed', () => {
  it('ends its workflow at its expiry, with the state of its record', async () => {
    const result = await ended(world, org, signed);
    expect(result).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: null,
      expired: true,
      closed: true,
      open: false,
    });
    const row = requireRow(await world.db('approvals').where({ id: signed.id }).first());
    expect(result?.version).toBe(row.version);
    expect(requireRow(row.expired_at).getTime()).toBeGreaterThan(row.expires_at.getTime());
    expect(row.closed_at).toEqual(row.expired_at);
  });

  it('expires at its signed time, not before and not long after', async () => {
    const row = requireRow(await world.db('approvals').where({ id: signed.id }).first());
    const lateMs = requireRow(row.expired_at).getTime() - row.expires_at.getTime();
    expect(lateMs).toBeGreaterThan(0);
    expect(lateMs).toBeLessThan(20_000);
  });

  it('keeps its votes, releases its claims and is audited once', async () => {
    expect(await show(world, org, signed)).toMatchObject({
      signatureStatus: 'expired',
      approvals: [{ id: org.alice.id }],
    });
    expect(await claimsOf(signed)).toEqual([]);
    expect(await auditOf(world.db, signed)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.expired',
    ]);
    const next = await proposeName(world, org, accountId, 'Another');
    expect(await claimsOf(next)).toHaveLength(1);
  });

  it('refuses signatures and executions by update and signal', async () => {
    const before = await org.stored();
    const answer = await sign(world.http, org.adminKey, signed, org.bob);
    expect([answer.status, answer.body.code]).toEqual([422, 'proposalExpired']);
    const executed = await execute(world.http, org.adminKey, signed.id);
    expect([executed.status, executed.body.code]).toEqual([422, 'proposalExpired']);
    const { signature } = await voteOf(org.bob, signed);
    const requestId = randomUUID();
    const ref = addressOf(signed);
    for (const outcome of [
      await signApproval(sender(), ref, { requestId, type: 'approve', signature, execute: true }),
      await executeApproval(sender(), ref, { requestId, type: 'approve' }),
      await retryApproval(sender(), addressOf(signed)),
    ]) {
      expect(outcome).toEqual({ workflowClosed: true });
    }
    expect(await org.stored()).toEqual(before);
  });
});

describe('an execution that failed everywhere', () => {
  it('is closed at its expiry, keeps its failure, and cannot be retried', async () => {
    expect(await ended(world, org, nowhere)).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: 'failed',
      closed: true,
    });
    expect(await show(world, org, nowhere)).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: 'failed',
      failure: { code: 'relayerFunds' },
    });
    expect(await claimsOf(nowhere)).toEqual([]);
    const executed = await execute(world.http, org.adminKey, nowhere.id);
    expect([executed.status, executed.body.code]).toEqual([422, 'proposalExpired']);
  });
});

describe('an account that is on one of its networks', () => {
  it('waits after its expiry, refuses votes and rejection, and is completed by a retry', async () => {
    const expired = await show(world, org, partly);
    expect(expired).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: 'failed',
      failure: { code: 'relayerFunds' },
    });
    const handle = workflowOf(world, org, partly);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(await handle.query('state')).toMatchObject({ expired: true, closed: false, open: true });
    expect(await claimsOf(partly)).toEqual([]);
    const refused = await vote(world, org, partly, org.carol);
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'proposalExpired' } });
    const rejected = await execute(world.http, org.adminKey, partly.id, 'reject');
    expect([rejected.status, rejected.body.code]).toEqual([422, 'proposalExpired']);

    // Without funds it fails again, and waits again.
    expect(await retryApproval(sender(), addressOf(partly))).toMatchObject({ ok: true });
    await until('it has failed again', async () => (await show(world, org, partly)).failure?.attempt === 2);

    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    const executed = await execute(world.http, org.adminKey, partly.id);
    expect(executed.status).toBe(200);
    expect(await ended(world, org, partly)).toMatchObject({
      signatureStatus: 'expired',
      executionStatus: 'completed',
      closed: true,
    });
    const done = await show(world, org, partly);
    expect(done).toMatchObject({ signatureStatus: 'expired', executionStatus: 'completed' });
    expect(done.failure).toBeUndefined();
    expect(done.deployments.map(({ status }: Shown) => status)).toEqual(['completed', 'completed']);
    expect(await auditOf(world.db, partly)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.signed',
      'proposal.executionStarted',
      'proposal.executionFailed',
      'proposal.expired',
      'proposal.executionRetried',
      'proposal.executionFailed',
      'proposal.executionRetried',
      'proposal.executed',
    ]);
  });
});
