/** @deep */

import { ScheduleOverlapPolicy } from '@temporalio/client';
import { closeOpenOfKey } from '../../src/approvals/closing';
import { checkReconciler, checkWorkflows } from '../../src/cli/doctor/reconcilerChecks';
import { appendAudit } from '../../src/db/audit';
import { SYSTEM } from '../../src/domain/actor';
import { reconcilerScheduleId, taskQueues } from '../../src/temporal/ids';
import { describeReconciler, ensureReconciler } from '../../src/temporal/schedule';
import { command, words } from '../cli/command';
import { type Gate, startGate } from '../cli/gate';
import { execute, type Shown, settled } from '../support/api';
import { sign, type TestOrganization } from '../support/service';
import { networksFile, sharedStack } from '../support/stack';
import { DEEP, itDeep } from '../support/suite';
import { until } from '../support/until';
import {
  aged as agedRecord,
  differencesOf,
  entriesOf,
  type Reconciler,
  reconcilerOf,
  untilRestored,
} from './reconciling';
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
  type World,
  workflowOf,
} from './world';

const STEADY = 31_337;
const GATED = 31_338;

let gate: Gate;
let world: World;
let org: TestOrganization;
let reconciler: Reconciler;

beforeAll(async () => {
  const [steady, gated] = sharedStack().chains;
  gate = await startGate(gated?.rpcUrl ?? '');
  const file = networksFile([
    { id: STEADY, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: GATED, name: 'Gated', rpcUrl: gate.url },
  ]);
  world = await startWorld({ env: { NETWORKS_FILE: file, RECONCILE_EVERY: '1s' } });
  reconciler = reconcilerOf(world);
});
beforeEach(async () => {
  org = await world.createOrganization();
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

let waitingNames = 0;

/** A change of a name that waits for signatures. */
async function waiting(): Promise<Shown & { accountId: string; newName: string }> {
  waitingNames += 1;
  const newName = `After ${waitingNames}`;
  const accountId = await storeAccount(world.db, org);
  return { ...(await proposeName(world, org, accountId, newName)), accountId, newName };
}

const aged = (proposal: Shown): Promise<Shown> => agedRecord(world.db, proposal);

async function runIdOf(proposal: Shown): Promise<string> {
  return (await workflowOf(world, org, proposal).describe()).runId;
}

async function deleteWorkflow(proposal: Shown): Promise<void> {
  await world.temporal.workflowService.deleteWorkflowExecution({
    namespace: world.temporal.options.namespace,
    workflowExecution: { workflowId: workflowOf(world, org, proposal).workflowId },
  });
}

/** Waits until Temporal's list lacks so many workflows of open proposals. */
async function untilMissed(count: number): Promise<void> {
  await until(`Temporal lacks ${count}`, async () => {
    return (await differencesOf(world, reconciler)).missingWorkflow.length === count;
  });
}

/** A signature of Bob through the API, until the workflow is there to take it. */
async function signAndExecute(proposal: Shown): Promise<Shown> {
  const answer = await sign(world.http, org.adminKey, proposal, org.bob, 'approve', { execute: true });
  expect(answer.status).toBe(200);
  return settled(world.http, org, proposal.id);
}

describe.each(DEEP ? (['terminated', 'cancelled'] as const) : (['terminated'] as const))(
  'a workflow that an operator has %s',
  (how) => {
    const end = async (proposal: Shown): Promise<string> => {
      const runId = await runIdOf(proposal);
      if (how === 'terminated') await workflowOf(world, org, proposal).terminate('not\nwanted');
      else await workflowOf(world, org, proposal).cancel();
      return runId;
    };
    const found = { status: how, byOperator: true, reason: how === 'terminated' ? 'not wanted' : '' };
    const reason = `its workflow was ${how} by an operator${how === 'terminated' ? ' (reason given: not wanted)' : ''}`;

    it('is closed before the first signature, and releases its claims', async () => {
      const proposal = await aged(await waiting());
      const runId = await end(proposal);
      const shown = await untilStatus(world, org, proposal, 'failed');
      expect(shown.failure).toMatchObject({ code: 'closedByOperator', message: reason });
      expect(await auditOf(world.db, proposal)).toEqual(['proposal.created', 'proposal.closed']);
      const [entry] = await entriesOf(world.db, proposal, 'proposal.closed');
      expect(entry).toMatchObject({
        actor: { type: 'operator' },
        details: { resourceType: 'accounts', action: 'update', reason, found: { ...found, runId } },
      });
      expect(await world.db('claims').where({ approval_id: proposal.id })).toEqual([]);
      const answer = await sign(world.http, org.adminKey, proposal, org.alice);
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });

      const another = await proposeName(world, org, proposal.accountId, 'Another');
      await sign(world.http, org.adminKey, another, org.alice);
      expect(await signAndExecute(another)).toMatchObject({ executionStatus: 'completed' });
    });

    it('is restarted after a signature, which counts, and can be executed', async () => {
      const proposal = await aged(await waiting());
      await sign(world.http, org.adminKey, proposal, org.alice);
      const runId = await end(proposal);
      await untilRestored(world.db, workflowOf(world, org, proposal), proposal, runId);
      expect(await show(world, org, proposal)).toMatchObject({ approvals: [{ id: org.alice.id }] });
      const [entry] = await entriesOf(world.db, proposal, 'proposal.restored');
      expect(entry).toMatchObject({
        actor: { type: 'system' },
        details: { found: { ...found, runId }, startedRunId: await runIdOf(proposal) },
      });
      expect(await signAndExecute(proposal)).toMatchObject({ executionStatus: 'completed' });
      expect(await world.db('accounts').where({ id: proposal.accountId }).first('name')).toEqual({
        name: proposal.newName,
      });
      expect(await auditOf(world.db, proposal)).toEqual([
        'proposal.created',
        'proposal.signed',
        'proposal.restored',
        'proposal.signed',
        'proposal.executionStarted',
        'proposal.executed',
      ]);
      expect(await ended(world, org, proposal)).toMatchObject({ executionStatus: 'completed' });
    });
  },
);

describe('a workflow that is lost', () => {
  itDeep('is restarted from its record, signed or not', async () => {
    const untouched = await aged(await waiting());
    const signed = await aged(await waiting());
    await sign(world.http, org.adminKey, signed, org.alice);
    for (const proposal of [untouched, signed]) {
      const runId = await runIdOf(proposal);
      await deleteWorkflow(proposal);
      await untilRestored(world.db, workflowOf(world, org, proposal), proposal, runId);
    }
    expect(await auditOf(world.db, untouched)).toEqual(['proposal.created', 'proposal.restored']);
    expect(await signAndExecute(signed)).toMatchObject({ executionStatus: 'completed' });
    await sign(world.http, org.adminKey, untouched, org.carol, 'reject');
    await sign(world.http, org.adminKey, untouched, org.bob, 'reject');
    await execute(world.http, org.adminKey, untouched.id, 'reject');
    expect(await show(world, org, untouched)).toMatchObject({ executionStatus: 'rejected' });
  });

  itDeep('is restarted a second time, with a second audit entry', async () => {
    const proposal = await aged(await waiting());
    await sign(world.http, org.adminKey, proposal, org.alice);
    for (const times of [1, 2]) {
      const runId = await runIdOf(proposal);
      await workflowOf(world, org, proposal).terminate();
      await untilRestored(world.db, workflowOf(world, org, proposal), proposal, runId);
      await until('there is an entry for each time', async () => {
        return (await entriesOf(world.db, proposal, 'proposal.restored')).length === times;
      });
    }
  });

  itDeep('is restarted past its expiry and expires', async () => {
    const proposal = await aged(await waiting());
    await reconciler.withoutSchedule(async () => {
      await workflowOf(world, org, proposal).terminate();
      await world
        .db('approvals')
        .where({ id: proposal.id })
        .update({ expires_at: world.db.raw(`date_trunc('second', now()) - interval '1 second'`) });
    });
    await until('it has expired', async () =>
      (await auditOf(world.db, proposal)).includes('proposal.expired'),
    );
    expect(await auditOf(world.db, proposal)).toEqual([
      'proposal.created',
      'proposal.restored',
      'proposal.expired',
    ]);
    expect(await ended(world, org, proposal)).toMatchObject({ signatureStatus: 'expired', closed: true });
  });

  it('continues a deployment, and deploys once', async () => {
    const proposal = await aged(await proposeAccount(world, org, [STEADY, GATED]));
    await vote(world, org, proposal, org.alice);
    gate.shut();
    await vote(world, org, proposal, org.bob, 'approve', { execute: true });
    await until('one network is done', async () => {
      const shown = await show(world, org, proposal);
      return shown.deployments.some(({ status }: Shown) => status === 'completed');
    });
    const runId = await runIdOf(proposal);
    await workflowOf(world, org, proposal).terminate();
    await untilRestored(world.db, workflowOf(world, org, proposal), proposal, runId);
    gate.open();
    const done = await untilStatus(world, org, proposal, 'completed');
    expect(done.deployments.map(({ status }: Shown) => status)).toEqual(['completed', 'completed']);
    const attempts = await world.db('chain_attempts').where({ proposal_id: proposal.id });
    expect(attempts.map(({ network_id }) => Number(network_id)).sort()).toEqual([STEADY, GATED]);
    const actions = await auditOf(world.db, proposal);
    expect(actions.filter((action) => action === 'proposal.restored')).toHaveLength(1);
    expect(actions.filter((action) => action === 'proposal.executed')).toHaveLength(1);
  });

  itDeep('is not restarted for a while when it ends repeatedly', async () => {
    const proposal = await aged(await waiting());
    await sign(world.http, org.adminKey, proposal, org.alice);
    await reconciler.withoutSchedule(async () => {
      await workflowOf(world, org, proposal).terminate();
      const entry = {
        action: 'proposal.restored',
        actor: SYSTEM,
        resourceType: 'proposal',
        resourceId: proposal.id,
        details: {},
      };
      await world.db.transaction((tx) => appendAudit(tx, org.id, Array(10).fill(entry)));
      await untilMissed(1);
      expect(await reconciler.pass()).toMatchObject({ restarted: 0, postponed: 1 });
      expect(await entriesOf(world.db, proposal, 'proposal.restored')).toHaveLength(10);
    });
    // What is left of it is none of the other tests' business.
    await world.db('approvals').where({ id: proposal.id }).update({ closed_at: world.db.fn.now() });
  });
});

describe('a record', () => {
  itDeep('ends its workflow when it was closed while Temporal was unavailable', async () => {
    const proposal = await waiting();
    await closeOpenOfKey(world.db, { organizationId: org.id, apiKeyId: org.adminKeyId });
    expect((await workflowOf(world, org, proposal).describe()).status.name).toBe('RUNNING');
    await world
      .db('approvals')
      .where({ id: proposal.id })
      .update({ closed_at: world.db.raw(`closed_at - interval '1 minute'`) });
    expect(await ended(world, org, proposal)).toMatchObject({ closed: true });
    expect(await auditOf(world.db, proposal)).toEqual(['proposal.created', 'proposal.closed']);
  });

  itDeep('without progress has its workflow notified at growing intervals', async () => {
    const proposal = await proposeAccount(world, org, [GATED]);
    await vote(world, org, proposal, org.alice);
    gate.shut();
    await vote(world, org, proposal, org.bob, 'approve', { execute: true });
    const notified = async () => {
      const { events } = await workflowOf(world, org, proposal).fetchHistory();
      return (events ?? []).filter(
        (event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'refresh',
      ).length;
    };
    expect(await notified()).toBe(0);
    await until('it waits for the network', async () => {
      return (await show(world, org, proposal)).deployments[0]?.waitingFor;
    });
    await world
      .db('approvals')
      .where({ id: proposal.id })
      .update({ updated_at: world.db.raw(`updated_at - interval '1 minute'`) });
    await until('its workflow is notified', async () => (await notified()) === 1);
    await reconciler.withoutSchedule(async () => {
      await reconciler.pass();
      await reconciler.pass();
    });
    expect(await notified()).toBe(1);
    gate.open();
    await untilStatus(world, org, proposal, 'completed');
  });

  itDeep('with a network that is not configured gets one note, which its workflow shows', async () => {
    const proposal = await waiting();
    await world
      .db('approvals')
      .where({ id: proposal.id })
      .update({ names: ['network:31337', 'network:99999'] });
    const { notes } = await until('it is noted', async () => {
      const shown = await show(world, org, proposal);
      return shown.notes?.length > 0 && shown;
    });
    expect(notes).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        code: 'networkGone',
        message: expect.stringContaining('network 99999, which the proposal names, is not configured'),
      },
    ]);
    await until('its workflow shows the note', async () => {
      const { currentDetails } = await workflowOf(world, org, proposal).query<{ currentDetails: string }>(
        '__temporal_workflow_metadata',
      );
      return currentDetails.includes('99999');
    });
    await reconciler.withoutSchedule(async () => {
      expect(await reconciler.pass()).toMatchObject({ noted: 0 });
    });
    expect((await show(world, org, proposal)).notes).toHaveLength(1);
  });
});

describe('several passes at once', () => {
  itDeep('repair each difference once, with one audit entry', async () => {
    await reconciler.withoutSchedule(async () => {
      const untouched = await Promise.all(Array.from({ length: 6 }, async () => aged(await waiting())));
      const signed = await Promise.all(Array.from({ length: 6 }, async () => aged(await waiting())));
      await Promise.all(signed.map((proposal) => vote(world, org, proposal, org.alice)));
      await Promise.all(
        [...untouched, ...signed].map((proposal) => workflowOf(world, org, proposal).terminate()),
      );
      await untilMissed(12);
      const summaries = await Promise.all([reconciler.pass(), reconciler.pass(), reconciler.pass()]);
      expect(summaries.map(({ failed }) => failed)).toEqual([0, 0, 0]);
      expect(summaries.reduce((sum, { closed }) => sum + closed, 0)).toBe(6);
      for (const proposal of untouched) {
        expect(await auditOf(world.db, proposal)).toEqual(['proposal.created', 'proposal.closed']);
      }
      for (const proposal of signed) {
        await until('its restart is recorded', async () => (await auditOf(world.db, proposal)).length > 2);
        expect(await auditOf(world.db, proposal)).toEqual([
          'proposal.created',
          'proposal.signed',
          'proposal.restored',
        ]);
        expect((await workflowOf(world, org, proposal).describe()).status.name).toBe('RUNNING');
      }
      const again = await reconciler.pass();
      expect(again).toMatchObject({ restarted: 0, closed: 0, noted: 0, failed: 0 });
    });
  });

  itDeep('change and report nothing without differences', async () => {
    const proposal = await aged(await waiting());
    await reconciler.withoutSchedule(async () => {
      const entries = () => world.db('audit_log').count('* as n').first();
      await untilMissed(0);
      const before = await entries();
      const summary = await reconciler.pass();
      expect(summary).toMatchObject({ restarted: 0, closed: 0, refreshed: 0, noted: 0, failed: 0 });
      expect(summary.open).toBeGreaterThan(0);
      expect(await entries()).toEqual(before);
      const handle = reconciler.lastPass();
      const { currentDetails } = await handle.query<{ currentDetails: string }>(
        '__temporal_workflow_metadata',
      );
      expect(currentDetails).toMatch(
        /^\*\*Compared:\*\* \d+ open proposals and transactions with \d+ running workflows by count, \d+ one by one\./,
      );
      expect(currentDetails).toContain('Nothing to repair.');
    });
    expect(await auditOf(world.db, proposal)).toEqual(['proposal.created']);
  });
});

itDeep('a workflow that is left over is found although another one is missed: the counts agree', async () => {
  const missed = await aged(await waiting());
  const left = await aged(await waiting());
  await sign(world.http, org.adminKey, missed, org.alice);
  await reconciler.withoutSchedule(async () => {
    await workflowOf(world, org, missed).terminate();
    await world
      .db('approvals')
      .where({ id: left.id })
      .update({ closed_at: world.db.raw(`now() - interval '1 minute'`) });
    await untilMissed(1);
    // A young one may still be creating its record.
    await until('the other one is left over', async () => {
      return (await differencesOf(world, reconciler)).orphaned.length === 1;
    });
    expect(await reconciler.pass()).toMatchObject({ restarted: 1, refreshed: 1, failed: 0 });
    expect(await ended(world, org, left)).toMatchObject({ closed: true });
    expect(await auditOf(world.db, missed)).toEqual([
      'proposal.created',
      'proposal.signed',
      'proposal.restored',
    ]);
  });
});

describe('the schedule', () => {
  it('starts passes in turn, each with its summary', async () => {
    const described = await until('there has been a pass', async () => {
      const found = await describeReconciler({ client: world.temporal, queues: reconciler.queues });
      return found && found.info.recentActions.length > 0 && found;
    });
    expect(described).toMatchObject({
      scheduleId: `${reconciler.queues.workflows}/reconciler`,
      spec: { intervals: [{ every: 1_000 }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 10_000 },
      action: { workflowType: 'reconcileWorkflow', taskQueue: reconciler.queues.workflows },
    });
    const id = described.info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
    expect(id).toMatch(new RegExp(`^${reconciler.queues.workflows}/reconcile-`));
    const started = await world.temporal.workflow.getHandle(id).describe();
    expect(await started.staticSummary()).toMatch(/every open proposal/);
  });

  itDeep('can be created by several workers at once, follows its setting, and remains paused', async () => {
    const other = { client: world.temporal, queues: taskQueues(`${reconciler.queues.workflows}-other`) };
    const handle = world.temporal.schedule.getHandle(reconcilerScheduleId(other.queues));
    try {
      await Promise.all(Array.from({ length: 5 }, () => ensureReconciler({ ...other, everyMs: 3_600_000 })));
      await handle.pause('an operator looks at something');
      await until('it is paused', async () => (await handle.describe()).state.paused);
      await ensureReconciler({ ...other, everyMs: 3_600_000 });
      const { info } = await handle.describe();
      expect(info.lastUpdatedAt).toBeUndefined();
      await ensureReconciler({ ...other, everyMs: 7_200_000 });
      expect(await describeReconciler(other)).toMatchObject({
        spec: { intervals: [{ every: 7_200_000 }] },
        state: { paused: true, note: 'an operator looks at something' },
      });
    } finally {
      await handle.delete();
    }
    expect(await describeReconciler(other)).toBeUndefined();
  });
});

describe('doctor', () => {
  const look = async () => {
    const [workflows] = await checkWorkflows(world.db, reconciler.sender, world.config);
    return workflows;
  };

  it('reports open proposals without a workflow, and the schedule', async () => {
    const proposal = await aged(await waiting());
    await sign(world.http, org.adminKey, proposal, org.alice);
    await until('all is well', async () => (await look())?.status === 'ok');
    expect(await checkReconciler(reconciler.sender, world.config, Date.now)).toEqual([
      { part: 'reconciler', status: 'ok', found: expect.stringMatching(/^every 1 s, last pass \d+ s ago$/) },
    ]);
    expect(await checkReconciler(reconciler.sender, world.config, () => Date.now() + 100_000)).toMatchObject([
      { status: 'warn', todo: expect.stringContaining('Schedules') },
    ]);
    const runId = await runIdOf(proposal);
    await reconciler.withoutSchedule(async () => {
      await workflowOf(world, org, proposal).terminate();
      await until('it is missed', async () => (await look())?.status === 'warn');
      const { stdout } = await command(world.env, 'doctor', '--json');
      const findings: Shown[] = JSON.parse(stdout);
      expect(findings.find(({ part }) => part === 'workflows')).toEqual({
        part: 'workflows',
        status: 'warn',
        found: `1 open record has no running workflow: ${proposal.id}`,
        todo: expect.stringContaining('the reconciler restarts it'),
      });
      expect(findings.find(({ part }) => part === 'reconciler')).toMatchObject({
        status: 'warn',
        found: expect.stringMatching(/is paused \(a test\)$/),
      });
    });
    await untilRestored(world.db, workflowOf(world, org, proposal), proposal, runId);
    await until('all is well again', async () => (await look())?.status === 'ok');
  });

  it('a retry by an operator restarts a lost workflow at once, with the same audit entry', async () => {
    const proposal = await aged(await waiting());
    await sign(world.http, org.adminKey, proposal, org.alice);
    await reconciler.withoutSchedule(async () => {
      await workflowOf(world, org, proposal).terminate();
      await command(world.env, 'proposals', 'retry', proposal.id);
    });
    await until('its restart is recorded', async () =>
      (await auditOf(world.db, proposal)).includes('proposal.restored'),
    );
    expect(await words(world.env, 'proposals', 'show', proposal.id)).toContain('Waits for signatures');
    expect(await entriesOf(world.db, proposal, 'proposal.restored')).toHaveLength(1);
  });
});

it('repairs are counted in the metrics', async () => {
  const closed = async () => {
    const metrics = await fetch(`http://127.0.0.1:${world.config.ops.port}/metrics`);
    const match = /^orgwallet_reconciler_repairs_total\{repair="closed"\} (\d+)$/m.exec(await metrics.text());
    return Number(match?.[1] ?? 0);
  };
  const before = await closed();
  const proposal = await aged(await waiting());
  await workflowOf(world, org, proposal).terminate();
  await untilStatus(world, org, proposal, 'failed');
  await until('it is counted', async () => (await closed()) === before + 1);
});
