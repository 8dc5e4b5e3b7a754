/** @deep */

import type { WorkflowHandle } from '@temporalio/client';
import { parseEther } from 'viem';
import { reopenTransaction } from '../../activities/transactions/reopen';
import { appendAudit } from '../../src/db/audit';
import { requireRow } from '../../src/db/rows';
import { readTransaction as readRecord } from '../../src/db/transactions';
import { SYSTEM } from '../../src/domain/actor';
import { insertRejection } from '../../src/signer/store/signedAuthorizations';
import { approvalWorkflowId } from '../../src/temporal/ids';
import { usageOf } from '../../src/transactions/policy';
import { json } from '../cli/command';
import { type Gate, startGate } from '../cli/gate';
import { change, makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { TestOrganization } from '../support/service';
import { fundOnLocalChain, networksFile, sharedStack } from '../support/stack';
import { DEEP, itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  initiate,
  makePolicies,
  readTransaction,
  settledTransaction,
  signTransaction,
} from '../support/transactionApi';
import { NETWORK_ID } from '../support/transactions';
import { until } from '../support/until';
import {
  aged as agedRecord,
  differencesOf,
  entriesOf,
  type Reconciler,
  reconcilerOf,
  untilRestored,
} from './reconciling';
import { auditOf, expectSoundAudit, startWorld, type World } from './world';

let gate: Gate;
let world: World;
let org: TestOrganization;
let account: Shown;
let policy: Shown;
let reconciler: Reconciler;

beforeAll(async () => {
  const [chain] = sharedStack().chains;
  gate = await startGate(chain?.rpcUrl ?? '');
  const file = networksFile([{ id: NETWORK_ID, name: 'Gated', rpcUrl: gate.url }]);
  world = await startWorld({ env: { NETWORKS_FILE: file, RECONCILE_EVERY: '1s' } });
  reconciler = reconcilerOf(world);
  org = await world.createOrganization();
  account = await makeAccount(world.http, org, { networkIds: [NETWORK_ID] });
  await fundOnLocalChain(chain?.rpcUrl ?? '', account.address);
  [policy] = (await makePolicies(world.http, org, {
    name: 'Coins to anybody',
    type: 'AUTO_APPROVAL',
    transactionType: 'TOKEN_TRANSFER',
    networkId: NETWORK_ID,
    accountIds: null,
    initiatorSetting: null,
    tokenTransferCondition: {
      tokenAddress: '0x0000000000000000000000000000000000000000',
      amountThreshold: String(parseEther('1')),
      destinationAddresses: [],
    },
  })) as [Shown];
});
afterEach(async () => {
  gate.open();
  await expectSoundAudit(world.db, org);
});
afterAll(async () => {
  await reconciler?.schedule.delete();
  await world?.stop();
  await gate?.stop();
});

function workflowOf({ id }: { id: string }): WorkflowHandle {
  return world.temporal.workflow.getHandle(
    approvalWorkflowId({ subject: 'transaction', organizationId: org.id, id }),
  );
}

async function runIdOf(transaction: Shown): Promise<string> {
  return (await workflowOf(transaction).describe()).runId;
}

const body = () => aTransactionBody(org, { account, policy, to: anAddress() });

const aged = (transaction: Shown): Promise<Shown> => agedRecord(world.db, transaction);

const unsigned = async () => aged(await createTransaction(world.http, org, body()));
const initiated = async () => aged(await initiate(world.http, org, body()));
const shown = (transaction: Shown) => readTransaction(world.http, org, transaction);

async function untilStatus(transaction: Shown, status: string): Promise<Shown> {
  return until(`transaction ${transaction.id} is ${status}`, async () => {
    const found = await shown(transaction);
    return found.executionStatus === status && found;
  });
}

async function untilEnded(transaction: Shown): Promise<void> {
  await until(`the workflow of ${transaction.id} has ended`, async () => {
    return (await workflowOf(transaction).describe()).status.name !== 'RUNNING';
  });
}

/** Sends until the workflow is there to take it: one that is being restored answers 500. */
async function untilTaken(send: () => Promise<{ status: number }>): Promise<void> {
  await until('it is taken', async () => (await send()).status === 200);
}

describe.each(DEEP ? (['terminated', 'cancelled'] as const) : (['terminated'] as const))(
  'a workflow that an operator has %s',
  (how) => {
    const end = async (transaction: Shown): Promise<string> => {
      const runId = await runIdOf(transaction);
      if (how === 'terminated') await workflowOf(transaction).terminate('not wanted');
      else await workflowOf(transaction).cancel();
      return runId;
    };

    it('is closed before its initiator has signed', async () => {
      const transaction = await unsigned();
      const runId = await end(transaction);
      const { failure } = await untilStatus(transaction, 'failed');
      expect(failure).toMatchObject({
        code: 'closedByOperator',
        message: expect.stringContaining(`its workflow was ${how} by an operator`),
      });
      expect(await auditOf(world.db, transaction)).toEqual(['transaction.created', 'transaction.closed']);
      const [entry] = await entriesOf(world.db, transaction, 'transaction.closed');
      expect(entry).toMatchObject({
        actor: { type: 'operator' },
        details: { accountId: account.id, networkId: NETWORK_ID, found: { status: how, runId } },
      });
      const answer = await signTransaction(world.http, org, transaction, org.dave, 'initiator');
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    });

    it('is restarted after a signature, which counts, and is executed', async () => {
      const transaction = await initiated();
      const runId = await end(transaction);
      await untilRestored(world.db, workflowOf(transaction), transaction, runId);
      const [entry] = await entriesOf(world.db, transaction, 'transaction.restored');
      expect(entry).toMatchObject({
        actor: { type: 'system' },
        details: {
          found: { status: how, byOperator: true, runId },
          startedRunId: await runIdOf(transaction),
        },
      });
      await untilTaken(() => executeTransaction(world.http, org, transaction));
      expect(await settledTransaction(world.http, org, transaction)).toMatchObject({
        executionStatus: 'completed',
      });
    });
  },
);

describe('a workflow that is lost', () => {
  itDeep('is restarted from its record, signed or not', async () => {
    for (const transaction of [await unsigned(), await initiated()]) {
      const runId = await runIdOf(transaction);
      await world.temporal.workflowService.deleteWorkflowExecution({
        namespace: world.temporal.options.namespace,
        workflowExecution: { workflowId: workflowOf(transaction).workflowId },
      });
      await untilRestored(world.db, workflowOf(transaction), transaction, runId);
      expect((await entriesOf(world.db, transaction, 'transaction.restored'))[0]?.details.found).toEqual({
        status: 'missing',
      });
    }
  });

  itDeep('continues to wait for its chain, and is executed once', async () => {
    const transaction = await initiated();
    gate.shut();
    await executeTransaction(world.http, org, transaction);
    const runId = await runIdOf(transaction);
    await workflowOf(transaction).terminate();
    await untilRestored(world.db, workflowOf(transaction), transaction, runId);
    gate.open();
    const done = await untilStatus(transaction, 'completed');
    const attempts = await world.db('chain_attempts').where({ transaction_id: transaction.id });
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({ outcome: 'executed', outcome_hash: done.result.transactionHash });
    const usage = await world.db('policy_usage').where({ transaction_id: transaction.id });
    expect(usage.map(({ status }) => status)).toEqual(['committed']);
  });

  itDeep('finishes a rejection that the signer has recorded', async () => {
    const transaction = await initiated();
    const rejected = await signTransaction(world.http, org, transaction, org.dave, 'reject');
    expect(rejected.body.data.signatureStatus).toBe('approvalAndRejectionReady');
    const found = await readRecord(world.db, { organizationId: org.id, transactionId: transaction.id });
    await world.db.transaction((tx) => insertRejection(tx, usageOf(requireRow(found).record)));
    await workflowOf(transaction).terminate();
    await untilStatus(transaction, 'rejected');
    await untilEnded(transaction);
    expect((await auditOf(world.db, transaction)).slice(-2)).toEqual([
      'transaction.restored',
      'transaction.rejected',
    ]);
  });

  itDeep('is not restarted for a while when it ends repeatedly', async () => {
    const transaction = await initiated();
    await reconciler.withoutSchedule(async () => {
      await workflowOf(transaction).terminate();
      const entry = {
        action: 'transaction.restored',
        actor: SYSTEM,
        resourceType: 'transaction',
        resourceId: transaction.id,
        details: {},
      };
      await world.db.transaction((tx) => appendAudit(tx, org.id, Array(10).fill(entry)));
      await until(
        'Temporal lacks it',
        async () => (await differencesOf(world, reconciler)).missingWorkflow.length === 1,
      );
      expect(await reconciler.pass()).toMatchObject({ restarted: 0, postponed: 1 });
    });
    // What is left of it is none of the other tests' business.
    await world.db('approvals').where({ id: transaction.id }).update({ closed_at: world.db.fn.now() });
  });
});

describe('a record', () => {
  it('is executed again after a lost block, although its workflow had completed', async () => {
    const transaction = await initiated();
    await untilTaken(() => executeTransaction(world.http, org, transaction));
    const first = await untilStatus(transaction, 'completed');
    await untilEnded(transaction);
    const runId = await runIdOf(transaction);
    await reopenTransaction(world.db, { organizationId: org.id, transactionId: transaction.id });
    await until('it is executed again', async () => (await runIdOf(transaction)) !== runId);
    // The chain has it all the same: it is found there.
    expect(await untilStatus(transaction, 'completed')).toMatchObject({ result: first.result });
    expect(await auditOf(world.db, transaction)).toEqual([
      'transaction.created',
      'transaction.signed',
      'transaction.executionStarted',
      'transaction.broadcast',
      'transaction.executed',
      'transaction.reopened',
      'transaction.restored',
      'transaction.executed',
    ]);
    expect(await world.db('chain_attempts').where({ transaction_id: transaction.id })).toHaveLength(1);
    const usage = await world.db('policy_usage').where({ transaction_id: transaction.id });
    expect(usage.map(({ status }) => status)).toEqual(['committed']);
  });

  itDeep('without progress has its workflow notified', async () => {
    const waiting = await initiated();
    gate.shut();
    await executeTransaction(world.http, org, waiting);
    const notified = async () => {
      const { events } = await workflowOf(waiting).fetchHistory();
      return (events ?? []).filter(
        (event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'refresh',
      ).length;
    };
    await untilStatus(waiting, 'processing');
    await world
      .db('approvals')
      .where({ id: waiting.id })
      .update({ updated_at: world.db.raw(`updated_at - interval '1 minute'`) });
    await until('its workflow is notified', async () => (await notified()) === 1);
    gate.open();
    await untilStatus(waiting, 'completed');
  });

  itDeep('ends its workflow when it was closed with its key', async () => {
    const mine = await unsigned();
    const created = await world.db('approvals').where({ id: mine.id }).first();
    const apiKeyId = requireRow(created?.created_by);
    const revoked = await json(world.env, 'keys', 'revoke', apiKeyId, '--close-open');
    expect(revoked.closed).toContain(mine.id);
    await untilEnded(mine);
    const [row] = await world.db('approvals').where({ id: mine.id });
    expect(row?.failure).toMatchObject({ code: 'closedByOperator' });
    await world.db('api_keys').where({ id: apiKeyId }).update({ revoked_at: null });
  });
});

it('gets notes about its policy and members, which its workflow shows', async () => {
  const transaction = await initiated();
  await change(world.http, org, '/policies/proposals', {
    policies: [{ ...policy, name: 'Coins to whoever' }],
  });
  const { notes } = await until('it is noted', async () => {
    const found = await shown(transaction);
    return found.notes.length > 0 && found;
  });
  expect(notes).toMatchObject([{ code: 'policyChanged', message: expect.stringContaining(policy.id) }]);
  await until('its workflow shows the note', async () => {
    const { currentDetails } = await workflowOf(transaction).query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    );
    return currentDetails.includes('has been changed');
  });
});

itDeep('a pass without differences changes nothing', async () => {
  await unsigned();
  await reconciler.withoutSchedule(async () => {
    const entries = () => world.db('audit_log').count('* as n').first();
    await until(
      'none is missed',
      async () => (await differencesOf(world, reconciler)).missingWorkflow.length === 0,
    );
    const before = await entries();
    const summary = await reconciler.pass();
    expect(summary).toMatchObject({ restarted: 0, closed: 0, refreshed: 0, noted: 0, failed: 0 });
    expect(summary.open).toBeGreaterThan(0);
    expect(await entries()).toEqual(before);
  });
});
