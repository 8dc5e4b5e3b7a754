import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { createLogger } from '../../src/logging';
import { installTemporalRuntime } from '../../src/workers';
import { workflowSource } from '../../src/workflowSource';
import { readHistories, recordedSets, UNRELEASED } from '../histories/files';
import { recordHistories } from '../histories/record';

/** `npm run histories` makes the unreleased ones anew, before they are replayed. */
const RECORDING = process.env.RECORD_HISTORIES !== undefined;

const STATES = [
  'deliveryUpToDate',
  'deliveryFailing',
  'deliveryPaused',
  'deliveryResumed',
  'deliveryRemoved',
  'waiting',
  'signed',
  'signalled',
  'expired',
  'rejected',
  'renamed',
  'refusedCreate',
  'completed',
  'blocked',
  'blockedThenCompleted',
  'failed',
  'retried',
  'partlyDeployedAfterExpiry',
  'finishedAfterExpiry',
  'noted',
  'membersCreate',
  'membersUpdate',
  'membersRemove',
  'groupsCreate',
  'groupsUpdate',
  'groupsDelete',
  'policiesCreate',
  'policiesUpdate',
  'policiesRemove',
  'adminsUpdate',
  'reconciled',
  'restored',
  'reconciledNetworks',
  'transactionWaiting',
  'transactionInitiated',
  'transactionSent',
  'transactionApproved',
  'transactionRejected',
  'transactionSignalled',
  'transactionRefusedCreate',
  'transactionBlocked',
  'transactionUnfunded',
  'transactionFunded',
  'transactionFailed',
  'transactionCancelled',
  'transactionRetried',
  'transactionRestored',
  'transactionExpired',
].sort();

/** The versions of CHANGELOG.md that are released. */
function releases(): string[] {
  const changelog = readFileSync(join(__dirname, '..', '..', 'CHANGELOG.md'), 'utf8');
  return [...changelog.matchAll(/^## \[?(\d[^\]\s]*)/gm)].map(([, version]) => version ?? '');
}

/** The histories of each set, by the state that their workflow has reached. */
const sets = new Map<string, ReturnType<typeof readHistories>>();
/** What each history came to when the workflow of today replayed it, by `set/state`; undefined where all is well. */
const replayed = new Map<string, Error | undefined>();

beforeAll(async () => {
  if (RECORDING) await recordHistories();
  else await installTemporalRuntime(createLogger('error'));
  for (const set of recordedSets()) sets.set(set, readHistories(set));
  const histories = [...sets].flatMap(([set, recordings]) =>
    [...recordings].map(([state, text]) => ({ workflowId: `${set}/${state}`, history: JSON.parse(text) })),
  );
  for await (const { workflowId, error } of Worker.runReplayHistories(replaying(), histories)) {
    replayed.set(workflowId, error);
  }
}, 240_000);

/** In a thread of its own: what records promises for stack traces would slow down every later test of this process. */
function replaying() {
  return { ...workflowSource(), debugMode: false };
}

function recorded(state: string): string {
  return sets.get(UNRELEASED)?.get(state) ?? '';
}

interface RecordedEvent {
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string } };
  readonly eventType: string;
  readonly userMetadata?: { readonly summary?: { readonly data: string } };
}

function eventsOf(state: string): readonly RecordedEvent[] {
  return JSON.parse(recorded(state)).events;
}

it('every state has a recorded history', () => {
  expect([...(sets.get(UNRELEASED)?.keys() ?? [])].sort()).toEqual(STATES);
});

it('every release of the changelog has the histories that it recorded', () => {
  expect([...sets.keys()].sort()).toEqual([...releases(), UNRELEASED].sort());
  for (const release of releases()) expect(sets.get(release)?.size).toBeGreaterThan(0);
});

describe('the workflow of today replays the history of', () => {
  it.each(STATES)('%s', (state) => {
    const history = `${UNRELEASED}/${state}`;
    expect([...replayed.keys()]).toContain(history);
    expect(replayed.get(history)).toBeUndefined();
  });

  it('every release', () => {
    const failures = [...replayed].filter(([, error]) => error !== undefined);
    expect(failures).toEqual([]);
  });

  it('none that another workflow made', async () => {
    // An activity of another name, where ours has the decision sealed.
    const changed = recorded('renamed').replaceAll('"sealProposal"', '"sealNothing"');
    expect(changed).not.toBe(recorded('renamed'));
    await expect(Worker.runReplayHistory(replaying(), JSON.parse(changed), 'changed')).rejects.toThrow(
      /nondeterminism/i,
    );
  });
});

describe('a workflow whose history is long', () => {
  /** A payment whose run ends, to be continued by another one, while its bytes are sent. */
  function continued(suggested: boolean): unknown {
    const { events } = JSON.parse(recorded('transactionSent'));
    const sending = eventsOf('transactionSent').findIndex(
      ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType.name === 'followTransaction',
    );
    const { workflowTaskCompletedEventId: completed } = events[sending].activityTaskScheduledEventAttributes;
    const [{ workflowExecutionStartedEventAttributes: first, eventTime }] = events;
    // Its first event is 1, and the task of these commands has started before it was completed.
    const task = events[Number(completed) - 2].workflowTaskStartedEventAttributes;
    if (suggested) Object.assign(task, { suggestContinueAsNew: true });
    const end = {
      eventId: String(sending + 2),
      eventTime,
      eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
      workflowExecutionContinuedAsNewEventAttributes: {
        newExecutionRunId: 'next',
        workflowType: first.workflowType,
        taskQueue: first.taskQueue,
        input: first.input,
        workflowTaskCompletedEventId: completed,
      },
    };
    return { events: [...events.slice(0, sending + 1), end] };
  }

  it('continues in a new run when Temporal suggests it, and not before', async () => {
    await Worker.runReplayHistory(workflowSource(), continued(true), 'long');
    await expect(Worker.runReplayHistory(workflowSource(), continued(false), 'short')).rejects.toThrow(
      /nondeterminism/i,
    );
  });
});

describe('a recorded history', () => {
  it.each(STATES)('of %s has no failed workflow task, and ends in that state', (state) => {
    const types = eventsOf(state).map(({ eventType }) => eventType);
    expect(types).not.toContain('EVENT_TYPE_WORKFLOW_TASK_FAILED');
    expect(types[0]).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED');
    const open = [
      ...['waiting', 'signed', 'noted', 'blocked', 'failed', 'partlyDeployedAfterExpiry'],
      ...['transactionWaiting', 'transactionInitiated', 'transactionBlocked', 'transactionUnfunded'],
      ...['transactionFailed'],
      ...['deliveryFailing', 'deliveryPaused', 'deliveryResumed', 'deliveryUpToDate'],
    ];
    const isComplete = types.at(-1) === 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED';
    expect(isComplete).toBe(!open.includes(state));
  });

  it.each(STATES)('of %s contains ids and states, no bodies and no host names', (state) => {
    const text = recorded(state);
    expect(text).not.toContain(hostname());
    expect(text).not.toMatch(/"(file|\/(home|root|work|tmp|Users)\/)/);
    expect(text.length).toBeLessThan(250_000);
  });
});

it('all @temporalio packages use one copy of protobufjs', () => {
  const here = createRequire(__filename);
  const copies = ['client', 'common', 'proto', 'worker', 'workflow', 'activity', 'testing'].map((name) => {
    const from = createRequire(here.resolve(`@temporalio/${name}/package.json`));
    return from.resolve('protobufjs');
  });
  expect([...new Set(copies)]).toEqual([here.resolve('protobufjs')]);
});
