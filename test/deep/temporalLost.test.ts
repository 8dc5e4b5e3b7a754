import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { verifyAudit } from '../../src/db/audit';
import { approvalWorkflowId, taskQueues } from '../../src/temporal/ids';
import { describeReconciler } from '../../src/temporal/schedule';
import { proposalPath, propose, read, type Shown, settled } from '../support/api';
import { sign, startTestService, type TestOrganization, type TestService } from '../support/service';
import { startOwnTemporal, temporaryDir } from '../support/stack';
import { until } from '../support/until';

/** How soon Postgres and Temporal agree again. */
const AGREEMENT_MS = 60_000;

let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let databaseFile: string;
let service: TestService;
let org: TestOrganization;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  databaseFile = join(temporaryDir(), 'state.db');
  temporal = await startOwnTemporal({ databaseFile });
  service = await startTestService({
    env: { TEMPORAL_ADDRESS: temporal.current.address, RECONCILE_EVERY: '2s' },
  });
  org = await service.createOrganization();
  connection = Connection.lazy({ address: temporal.current.address });
  client = new Client({ connection });
});
afterEach(async () => {
  expect(await verifyAudit(service.db, org.id)).toMatchObject({ ok: true });
});
afterAll(async () => {
  await Promise.all([service?.stop(), connection?.close()]);
  await temporal?.stop();
});

async function old(proposal: Shown): Promise<Shown> {
  await service
    .db('approvals')
    .where({ id: proposal.id })
    .update({ created_at: service.db.raw(`created_at - interval '1 minute'`) });
  return proposal;
}

function workflowOf(proposal: Shown) {
  return client.workflow.getHandle(
    approvalWorkflowId({
      subject: 'proposal',
      organizationId: org.id,
      resourceType: proposal.resourceType,
      id: proposal.id,
    }),
  );
}

function auditOf(proposal: Shown): Promise<string[]> {
  return service.db('audit_log').where({ resource_id: proposal.id }).orderBy('position').pluck('action');
}

it('a workflow of a proposal without signatures can be cancelled, and is closed', async () => {
  const proposal = await old(await propose(service.http, org));
  await workflowOf(proposal).cancel();
  await until('it is closed', async () => (await auditOf(proposal)).includes('proposal.closed'));
  expect(await read(service.http, org.readKey, proposalPath(proposal.id))).toMatchObject({
    executionStatus: 'failed',
    failure: { code: 'closedByOperator' },
  });
});

it('workflows are restored from Postgres within a minute after Temporal lost its data, and votes count', async () => {
  const proposals = await Promise.all(Array.from({ length: 5 }, () => propose(service.http, org)));
  await Promise.all(
    proposals.map(async (proposal) => {
      await old(proposal);
      await sign(service.http, org.adminKey, proposal, org.alice, 'reject');
    }),
  );
  await temporal.kill();
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${databaseFile}${suffix}`, { force: true });
  await temporal.start();

  await until(
    'every workflow is there again',
    async () => {
      for (const proposal of proposals) {
        if (!(await auditOf(proposal)).includes('proposal.restored')) return false;
      }
      return true;
    },
    AGREEMENT_MS,
  );
  const queues = taskQueues(service.config.temporal.taskQueue);
  expect(await describeReconciler({ client, queues })).toMatchObject({ state: { paused: false } });
  for (const proposal of proposals) {
    expect((await workflowOf(proposal).describe()).status.name).toBe('RUNNING');
    const answer = await sign(service.http, org.adminKey, proposal, org.bob, 'reject', { execute: true });
    expect(answer.status).toBe(200);
    expect(await settled(service.http, org, proposal.id)).toMatchObject({ executionStatus: 'rejected' });
    expect(await auditOf(proposal)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.restored',
      'proposal.signed',
      'proposal.executionStarted',
      'proposal.rejected',
    ]);
  }
});
