import type { Client } from '@temporalio/client';
import { createPublicClient, type Hex, http as rpcTransport } from 'viem';
import type { NetworkConfig } from '../../src/config';
import { verifyAudit } from '../../src/db/audit';
import { requireRow } from '../../src/db/rows';
import type { ProposalState } from '../../src/domain/proposal';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { endpointOf } from '../support/stack';
import { until } from '../support/until';
import { type AccountCreation, askOf, proposalOf, STEPS, type World } from './accountCreation';

/** How soon Postgres, Temporal and chain agree again after a crash. */
const AGREEMENT_MS = 60_000;

/** How often each value occurs in a column. */
export function countBy<C extends string>(
  rows: readonly { readonly [column in C]: unknown }[],
  column: C,
): { [value: string]: number } {
  const counts: { [value: string]: number } = {};
  for (const { [column]: value } of rows) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

/**
 * Everything that must hold about a finished creation, whatever was killed meanwhile: one proposal, one vote of each
 * voter, one execution, one deployment per network, one audit entry per change, one answer per idempotency key, and
 * a workflow that ended with the state of Postgres.
 */
export async function expectOneOfEverything(
  world: World & { temporal: Client; networks: readonly NetworkConfig[] },
  creation: AccountCreation,
  expected: { executions?: number; failedDeployments?: number } = {},
): Promise<void> {
  const { db, org } = world;
  const executions = expected.executions ?? 1;
  const { networkIds } = creation;

  const proposals = await db('approvals')
    .join('proposals', 'proposals.id', 'approvals.id')
    .where({ organization_id: org.id })
    .whereRaw(`data->'items'->0->>'name' = ?`, [creation.name]);
  expect(proposals.map(({ id }) => id)).toEqual([proposalOf(creation).id]);
  const proposal = requireRow(proposals[0]);
  expect(proposal).toMatchObject({
    execution_status: 'completed',
    execution_attempt: executions,
    failure: null,
    result: { resolution: 'approved' },
  });
  expect(proposal.closed_at).not.toBeNull();
  const proposalId = proposal.id;

  const votes = await db('votes').where({ approval_id: proposalId }).orderBy('member_id');
  expect(votes.map((vote) => [vote.member_id, vote.type])).toEqual(
    [org.alice.id, org.bob.id].sort().map((id) => [id, 'approve']),
  );
  const messages = await db('received_messages').where({ approval_id: proposalId });
  expect(countBy(messages, 'kind')).toEqual({ sign: 2, execute: executions });
  expect(await db('claims').where({ approval_id: proposalId })).toEqual([]);
  expect(await db('evidence').where({ approval_id: proposalId })).toHaveLength(1);

  const accounts = await db('accounts').where({ organization_id: org.id, name: creation.name });
  expect(accounts).toHaveLength(1);
  const account = requireRow(accounts[0]);
  const entries = await db('audit_log').whereIn('resource_id', [proposalId, account.id]);
  const { failedDeployments = 0 } = expected;
  expect(countBy(entries, 'action')).toEqual({
    'proposal.created': 1,
    'proposal.signed': 2,
    'proposal.executionStarted': 1,
    ...(executions > 1
      ? { 'proposal.executionRetried': executions - 1, 'proposal.executionFailed': executions - 1 }
      : {}),
    ...(failedDeployments > 0 ? { 'account.deploymentFailed': failedDeployments } : {}),
    'account.created': 1,
    'account.deployed': networkIds.length,
    'proposal.executed': 1,
  });
  expect(await verifyAudit(db, org.id)).toMatchObject({ ok: true });

  const deployments = await db('deployments').where({ proposal_id: proposalId });
  expect(countBy(deployments, 'status')).toEqual({ completed: networkIds.length });
  const attempts = await db('chain_attempts').where({ account_id: account.id });
  expect(attempts.map((attempt) => Number(attempt.network_id)).sort()).toEqual([...networkIds].sort());
  const envelopes = await db('chain_envelopes').whereIn(
    'attempt_id',
    attempts.map(({ id }) => String(id)),
  );
  const mined = envelopes.filter(({ outcome }) => outcome === 'mined');
  expect(countBy(mined, 'network_id')).toEqual(Object.fromEntries(networkIds.map((id) => [id, 1])));
  for (const network of world.networks.filter(({ id }) => networkIds.includes(id))) {
    const client = createPublicClient({ transport: rpcTransport(endpointOf(network)) });
    expect(await client.getCode({ address: account.address as Hex })).toMatch(/^0x.+/);
  }

  const requests = await db('idempotency_requests').where({ resource_id: proposalId });
  expect(requests.filter(({ answered_at }) => answered_at === null)).toEqual([]);
  for (const step of STEPS) {
    const again = await world.http.send(await askOf(world, creation, step));
    const first = creation.answers.get(step);
    expect([step, again.status, again.text]).toEqual([step, first?.status, first?.text]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  }

  const workflowId = approvalWorkflowId({
    subject: 'proposal',
    organizationId: org.id,
    resourceType: 'accounts',
    id: proposalId,
  });
  const handle = world.temporal.workflow.getHandle(workflowId);
  await until(
    `${workflowId} has ended`,
    async () => (await handle.describe()).status.name === 'COMPLETED',
    AGREEMENT_MS,
  );
  const state = (await handle.result()) as ProposalState;
  expect(state).toMatchObject({ version: proposal.version, executionStatus: 'completed', closed: true });
}
