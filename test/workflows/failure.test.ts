/** @deep */

import { isDeepStrictEqual } from 'node:util';
import { defaultPayloadConverter } from '@temporalio/common';
import { createPublicClient, type Hex, parseEther, http as rpcTransport } from 'viem';
import { retryApproval } from '../../src/temporal/approvalMessages';
import type { WorkflowSender } from '../../src/temporal/client';
import { taskQueues } from '../../src/temporal/ids';
import { OPERATOR_QUERIES } from '../../src/temporal/searchAttributes';
import { execute, type Shown, settled } from '../support/api';
import { changeAdmins, proposeHindered } from '../support/decisions';
import type { TestOrganization } from '../support/service';
import { endpointOf } from '../support/stack';
import { itDeep } from '../support/suite';
import { until } from '../support/until';
import {
  activitiesOf,
  auditOf,
  ended,
  expectSoundAudit,
  messages,
  proposeAccount,
  setRelayerBalance,
  show,
  startWorld,
  untilStatus,
  vote,
  type World,
  workflowOf,
} from './world';

const FUNDED = 31337;
const UNFUNDED = 31338;

let world: World;
let org: TestOrganization;
let relayer: string;

beforeAll(async () => {
  // Of its own, because its relayer goes without funds.
  world = await startWorld({});
  org = await world.createOrganization();
  relayer = await setRelayerBalance(world, UNFUNDED, 0n);
});
afterEach(() => setRelayerBalance(world, UNFUNDED, 0n));
afterAll(async () => {
  if (org) await expectSoundAudit(world.db, org);
  await world?.stop();
});

/** An account approved for both networks, of which one fails. */
async function failedProposal(of = org): Promise<Shown> {
  const proposal = await proposeAccount(world, of, [FUNDED, UNFUNDED]);
  await vote(world, of, proposal, of.alice);
  await vote(world, of, proposal, of.bob, 'approve', { execute: true });
  return untilStatus(world, of, proposal, 'failed');
}

/** The words that an operator reads under "Current details". */
async function currentDetails(proposal: Shown): Promise<string> {
  const { currentDetails: text } = await workflowOf(world, org, proposal).query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  );
  return text;
}

function sender(): WorkflowSender {
  const queues = taskQueues(world.config.temporal.taskQueue);
  return { client: world.temporal, queues, deadlineMs: 10_000 };
}

async function envelopesOf(proposal: Shown): Promise<string[]> {
  return world
    .db('chain_envelopes')
    .join('chain_attempts', 'chain_attempts.id', 'chain_envelopes.attempt_id')
    .where({ proposal_id: proposal.id })
    .orderBy('chain_envelopes.network_id')
    .pluck('chain_envelopes.transaction_hash');
}

/** Once the relayer is funded, only the missing network is deployed to, and the account is on both. */
async function expectFinished(failed: Shown, tried: Promise<unknown>, attempts = 2) {
  const [before] = await envelopesOf(failed);
  await tried;
  expect(await ended(world, org, failed)).toMatchObject({ executionStatus: 'completed', closed: true });
  const done = await show(world, org, failed);
  expect(done.failure).toBeUndefined();
  expect(done.deployments.map(({ networkId, status }: Shown) => [networkId, status])).toEqual([
    [FUNDED, 'completed'],
    [UNFUNDED, 'completed'],
  ]);
  const after = await envelopesOf(failed);
  expect(after).toHaveLength(2);
  expect(after[0]).toBe(before);
  const account = await world.db('accounts').where({ id: done.result.resources[0].id }).first('address');
  for (const network of world.config.networks) {
    const client = createPublicClient({ transport: rpcTransport(endpointOf(network)) });
    expect(await client.getCode({ address: account?.address as Hex })).toMatch(/^0x.+/);
  }
  expect(await auditOf(world.db, failed)).toEqual([
    'proposal.created',
    'proposal.signed',
    'proposal.signed',
    'proposal.executionStarted',
    ...Array(attempts - 1)
      .fill(['proposal.executionFailed', 'proposal.executionRetried'])
      .flat(),
    'proposal.executed',
  ]);
}

describe('an execution with an unfunded relayer on one network', () => {
  it('completes the other network, names the relayer and waits', async () => {
    const failed = await failedProposal();
    expect(failed.failure).toMatchObject({
      code: 'relayerFunds',
      attempt: 1,
      message: expect.stringContaining(relayer),
    });
    expect(failed.deployments).toEqual([
      expect.objectContaining({ networkId: FUNDED, status: 'completed' }),
      expect.objectContaining({
        networkId: UNFUNDED,
        status: 'failed',
        failure: expect.objectContaining({ code: 'relayerFunds', message: expect.stringContaining(relayer) }),
      }),
    ]);
    const handle = workflowOf(world, org, failed);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(await handle.query('state')).toMatchObject({
      executionStatus: 'failed',
      closed: false,
      open: true,
      failure: { code: 'relayerFunds' },
    });

    // What an operator reads: what is asked, what failed, what to do, who signed.
    const text = await currentDetails(failed);
    expect(text).toContain('**Asked:** Create account');
    expect(text).toContain('waits for a retry');
    expect(text).toContain(relayer);
    expect(text).toContain('retryExecution');
    expect(text).toMatch(/\*\*Approved by:\*\* .*Alice.*Bob.*\(2 of 2\)/);
    expect(text).toContain(`**Rejected by:** nobody`);
    expect(text).toContain(`| ${FUNDED} | completed |`);
    expect(text).toContain(`| ${UNFUNDED} | failed |`);
  });

  it('cannot be rejected', async () => {
    const failed = await failedProposal();
    await vote(world, org, failed, org.alice, 'reject');
    await vote(world, org, failed, org.bob, 'reject');
    const rejected = await execute(world.http, org.adminKey, failed.id, 'reject');
    expect([rejected.status, rejected.body.code]).toEqual([409, 'conflict']);
    expect((await show(world, org, failed)).executionStatus).toBe('failed');
  });

  itDeep('fails again with the next attempt, and keeps waiting', async () => {
    const failed = await failedProposal();
    expect((await execute(world.http, org.adminKey, failed.id)).status).toBe(200);
    const again = await until('it has failed again', async () => {
      const shown = await show(world, org, failed);
      return shown.executionStatus === 'failed' && shown.failure.attempt === 2 && shown;
    });
    expect(again.failure.code).toBe('relayerFunds');
    expect(await envelopesOf(failed)).toHaveLength(1);
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    await expectFinished(failed, execute(world.http, org.adminKey, failed.id), 3);
  });

  itDeep('is completed by the API', async () => {
    const failed = await failedProposal();
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    await expectFinished(failed, execute(world.http, org.adminKey, failed.id));
  });

  itDeep('is completed by the CLI', async () => {
    const failed = await failedProposal();
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    const address = {
      subject: 'proposal' as const,
      organizationId: org.id,
      resourceType: failed.resourceType,
      id: failed.id,
    };
    await expectFinished(failed, retryApproval(sender(), address));
    const entry = await world
      .db('audit_log')
      .where({ resource_id: failed.id, action: 'proposal.executionRetried' })
      .first('actor');
    expect(entry?.actor).toMatchObject({ type: 'operator' });
    expect(await retryApproval(sender(), address)).toEqual({ workflowClosed: true });
  });

  it('is completed by the signal of the Temporal UI, however often it is sent', async () => {
    const failed = await failedProposal();
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    const handle = workflowOf(world, org, failed);
    await expectFinished(
      failed,
      Promise.all([1, 2, 3].map(() => handle.signal(messages.retryExecutionSignal))),
    );
  });

  itDeep('is not retried when its approvals are not enough any more', async () => {
    const failed = await failedProposal();
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    await changeAdmins(world.db, org, { threshold: 3 });
    try {
      const answer = await execute(world.http, org.adminKey, failed.id);
      expect([answer.status, answer.body.code]).toEqual([422, 'thresholdNotMet']);
      const handle = workflowOf(world, org, failed);
      const done = await activitiesOf(handle);
      await handle.signal(messages.retryExecutionSignal);
      await until('the signal is handled', async () => (await activitiesOf(handle)) === done + 1);
    } finally {
      await changeAdmins(world.db, org, { threshold: 2 });
    }
    expect(await envelopesOf(failed)).toHaveLength(1);
    expect(await auditOf(world.db, failed)).not.toContain('proposal.executionRetried');
  });
});

describe('a stale execution', () => {
  it('is blocked, changes nothing, and can be retried or rejected', async () => {
    const { proposal, groupId, policyId, hinder, free } = await proposeHindered(world, org);
    await vote(world, org, proposal, org.alice);
    await hinder();
    const result = await vote(world, org, proposal, org.bob, 'approve', { execute: true });
    expect(result).toMatchObject({ ok: true, state: { executionStatus: 'processing' } });
    expect(await untilStatus(world, org, proposal, 'blocked')).toMatchObject({
      failure: { code: 'stale', attempt: 1, message: expect.stringContaining(groupId) },
    });
    expect(await world.db('policies').where({ id: policyId })).toEqual([]);
    const text = await currentDetails(proposal);
    expect(text).toContain('nothing was changed');
    expect(text).toContain('**What to do:**');
    expect((await workflowOf(world, org, proposal).describe()).status.name).toBe('RUNNING');

    await workflowOf(world, org, proposal).signal(messages.retryExecutionSignal);
    await until('it is blocked again', async () => (await show(world, org, proposal)).failure?.attempt === 2);
    await free();
    await execute(world.http, org.adminKey, proposal.id, 'approve', 'policies');
    expect(await settled(world.http, org, proposal.id, 'policies')).toMatchObject({
      executionStatus: 'completed',
    });
    expect(await world.db('policies').where({ id: policyId })).toHaveLength(1);
    expect(await auditOf(world.db, proposal)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.signed',
      'proposal.executionStarted',
      'proposal.blocked',
      'proposal.executionStarted',
      'proposal.blocked',
      'proposal.executionStarted',
      'proposal.executed',
    ]);
  });

  itDeep('is rejected while it is blocked', async () => {
    const { proposal, hinder } = await proposeHindered(world, org);
    for (const type of ['approve', 'reject'] as const) {
      await vote(world, org, proposal, org.alice, type);
      await vote(world, org, proposal, org.bob, type);
    }
    await hinder();
    await execute(world.http, org.adminKey, proposal.id, 'approve', 'policies');
    await untilStatus(world, org, proposal, 'blocked');
    await execute(world.http, org.adminKey, proposal.id, 'reject', 'policies');
    const rejected = await untilStatus(world, org, proposal, 'rejected');
    expect(rejected.failure).toBeUndefined();
  });
});

describe('the Temporal UI', () => {
  /** Everything that an operator can read in the list and the history. */
  async function seen(proposal: Shown) {
    const handle = workflowOf(world, org, proposal);
    const [description, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    const text = (payload: unknown) =>
      payload ? defaultPayloadConverter.fromPayload<string>(payload as never) : undefined;
    return {
      description,
      summaries: (events ?? []).flatMap((event) => text(event.userMetadata?.summary) ?? []),
      unnamed: (events ?? []).filter(
        (event) =>
          (event.activityTaskScheduledEventAttributes || event.timerStartedEventAttributes) &&
          !event.userMetadata?.summary,
      ),
    };
  }

  /** When half of its time is over. */
  function halfOf({ createdAt, expiresAt }: Shown): string {
    return new Date(Math.ceil((Date.parse(createdAt) + Date.parse(expiresAt)) / 2)).toISOString();
  }

  it('describes each step of a proposal, and finds it by its search attributes', async () => {
    const failed = await failedProposal();
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    await expectFinished(failed, execute(world.http, org.adminKey, failed.id));
    const { description, summaries, unnamed } = await seen(failed);
    const accountId = failed.deployments[0].accountId;
    expect(description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])).toEqual(
      expect.arrayContaining([
        ['OrganizationId', org.id],
        ['ResourceType', 'accounts'],
        ['Action', 'create'],
        ['SignatureStatus', 'approvalReady'],
        ['ExecutionState', 'completed'],
        ['AccountId', [accountId]],
        ['NetworkId', [String(FUNDED), String(UNFUNDED)]],
        ['ExpiresAt', new Date(failed.expiresAt)],
      ]),
    );
    expect(await description.staticSummary()).toBe(`accounts create proposal ${failed.id}`);
    expect(await description.staticDetails()).toContain('retryExecution');
    for (const summary of [
      `Verify all evidence and sign the deployment of ${accountId} on network ${FUNDED}`,
      `Send and follow the deployment of ${accountId} on network ${UNFUNDED}`,
      `Reminds at ${halfOf(failed)}. Expires at ${failed.expiresAt}`,
    ]) {
      expect(summaries).toContain(summary);
    }
    expect(unnamed).toEqual([]);
  });

  it('lists it as failed or awaiting signatures, until it is completed', async () => {
    const own = await world.createOrganization();
    const found = async (query: string) => {
      const ids: string[] = [];
      const workflows = world.temporal.workflow.list({ query: `${query} AND OrganizationId="${own.id}"` });
      for await (const { workflowId } of workflows) ids.push(workflowId.split('/').at(-1) ?? '');
      return ids;
    };
    const lists = async () => [
      await found(OPERATOR_QUERIES.failedOrBlocked),
      await found(OPERATOR_QUERIES.awaitingSignatures),
    ];
    /** Temporal's list follows the workflows after a moment. */
    const untilListed = (failed: string[], awaiting: string[]) =>
      until('the lists show the proposals', async () => isDeepStrictEqual(await lists(), [failed, awaiting]));

    const pending = await proposeAccount(world, own, [FUNDED]);
    await untilListed([], [pending.id]);
    const failed = await failedProposal(own);
    await untilListed([failed.id], [pending.id]);
    await setRelayerBalance(world, UNFUNDED, parseEther('10'));
    await execute(world.http, own.adminKey, failed.id);
    await untilListed([], [pending.id]);
  });

  itDeep('names the missing signatures while it waits', async () => {
    const proposal = await proposeAccount(world, org, [FUNDED]);
    expect(await currentDetails(proposal)).toContain('2 more to approve, or 2 more to reject');
    await vote(world, org, proposal, org.carol);
    const text = await currentDetails(proposal);
    expect(text).toContain('1 more to approve, or 2 more to reject');
    expect(text).toContain(`"Carol" (${org.carol.id})`);
    expect(text).toContain(`**Expires:** ${proposal.expiresAt}`);
    await vote(world, org, proposal, org.alice);
    expect(await currentDetails(proposal)).toContain('Waits for somebody to execute it');
  });
});
