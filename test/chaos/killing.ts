import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainActivities } from '../../activities/chainActivities';
import { createWorkerActivities } from '../../activities/worker';
import type { Role } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import { createSignerActivities } from '../../src/signer/activities';
import type { HttpClient } from '../support/http';
import { inSlot } from '../support/inSlot';
import { until } from '../support/until';
import { expectOneEffect } from './oneEffect';
import { PaymentFixture, unarmed } from './paymentFixture';
import { Payment, SCENARIOS, type Scenario } from './payments';

/** How many services run concurrently, by the role that is killed: most of the time passes until Temporal detects it. */
const CONCURRENCY: { readonly [part in Role]: number } = { signer: 1, chain: 2, worker: 2, api: 1 };

/** The failpoints at which a process is killed, by scenario. */
const points: { readonly [scenario in Scenario]: readonly string[] } = {
  // Those that Temporal takes longest to notice come first.
  payAfterReorganization: [
    'chain.attemptReopened',
    'chain.usageReopened',
    'chain.findLostTransactions:before',
    'chain.findLostTransactions:after',
    'worker.wakeReopened:before',
    'worker.wakeReopened:after',
  ],
  cancel: [
    'signer.signCancellation:before',
    'signer.signCancellation:after',
    'signer.cancellationStored',
    'signer.journaled#2',
    'signer.envelopeStored#2',
    'worker.requestCancellation:before',
    'worker.cancellationRequested',
    'worker.requestCancellation:after',
    'signer.confirmOutcome:before',
    'signer.confirmOutcome:after',
    'worker.outcomeLocked',
    'worker.executionCleared',
    'chain.outcomeSeen',
  ],
  payBehindGap: ['signer.fillNonce:before', 'signer.fillNonce:after', 'signer.fillerStored'],
  reject: ['signer.recordRejection:before', 'signer.rejectionStored', 'signer.recordRejection:after'],
  rejectSigned: ['worker.readAuthority:before', 'worker.readAuthority:after'],
  payAfterOutage: [
    'chain.prepareTransaction:before',
    'chain.prepareTransaction:after',
    'worker.reportWaiting:before',
    'worker.reportWaiting:after',
  ],
  payAfterRefill: [
    'chain.awaitRelayer:before',
    'chain.awaitRelayer:after',
    'worker.executionFailed',
    'worker.beginExecution:before',
    'worker.budgetChecked#2',
    'worker.beginExecution:after',
  ],
  revertInBlock: [
    'chain.followTransaction:after',
    'chain.envelopeDecided',
    'chain.outcomeSeen',
    'signer.confirmOutcome:before',
    'signer.confirmOutcome:after',
    'worker.finishTransaction:before',
    'worker.outcomeLocked',
    'worker.executionCleared',
    'worker.executionFailed',
    'worker.finishTransaction:after',
  ],
  revertBefore: [
    'worker.prepareNewTransaction:after',
    'chain.prepareTransaction:after',
    'worker.finishTransaction:before',
    'worker.executionCleared',
    'worker.executionFailed',
    'worker.finishTransaction:after',
  ],
  pay: [
    'signer.signTransaction:before',
    'signer.intentStored',
    'signer.journaled',
    'signer.envelopeStored',
    'signer.signTransaction:after',
    'chain.followTransaction:before',
    'chain.sending',
    'chain.sent',
    'chain.noted',
    'chain.confirmed',
    'chain.envelopeDecided',
    'chain.outcomeSeen',
    'chain.followTransaction:after',
    'worker.createApproval:before',
    'worker.approvalStored',
    'worker.createApproval:after',
    'worker.recordVote:before',
    'worker.budgetChecked',
    'worker.executionStarted',
    'worker.recordVote:after',
    'worker.prepareNewTransaction:before',
    'worker.prepareNewTransaction:after',
    'worker.finishTransaction:before',
    'worker.outcomeRead',
    'worker.executionFinished',
    'worker.finishTransaction:after',
    'api.requestChecked',
    'api.requestStored',
    'api.workflowAnswered',
    'api.answerStored',
    'api.requestChecked#2',
    'api.requestStored#2',
    'api.workflowAnswered#2',
    'api.answerStored#2',
  ],
  payThroughForgetful: [
    'signer.intentStored',
    'signer.journaled',
    'signer.envelopeStored',
    'chain.followTransaction:before',
    'chain.sending',
    'chain.sending#2',
    'chain.sent',
    'chain.noted',
    'chain.confirmed',
    'chain.envelopeDecided',
    'chain.outcomeSeen',
    'chain.followTransaction:after',
    'worker.prepareNewTransaction:after',
    'worker.finishTransaction:before',
    'worker.outcomeRead',
    'worker.executionFinished',
  ],
  payApproved: [
    'worker.recordVote:before#2',
    'worker.voteStored#2',
    'worker.recordVote:after#2',
    'worker.beginExecution:before',
    'worker.budgetChecked',
    'worker.executionStarted',
    'worker.beginExecution:after',
    'api.requestChecked#4',
    'api.requestStored#4',
    'api.workflowAnswered#4',
    'api.answerStored#4',
  ],
};

/** Activities and failpoints of no scenario: they only read, or have nothing to do with an execution of a transaction. */
const notInExecution = [
  'worker.expireApproval',
  // Proposals and their deployments are killed at in workersKilled.
  'worker.applySeal',
  'signer.sealProposal',
  'signer.signDeployment',
  'chain.observeDeployment',
  'chain.followDeployment',
  'chain.backfillMovements',
  'worker.sealProjected',
  'signer.sealStored',
  'signer.sealJournaled',
  'worker.finishDeployments',
  'worker.recordDeployment',
  'worker.refreshNoted',
  'worker.reportDeployment',
  'worker.readApproval',
  'worker.recordRestored',
  'worker.reconcile',
  // What keeps the admins' Safe is killed at in upkeepKilled.
  'signer.upkeepJournaled',
  'signer.upkeepReserved',
  'signer.upkeepSent',
  'signer.securingJournaled',
  // Deliveries are killed at in workflows/deliveries, reminders in workersKilled.
  'worker.delivery:sent',
  'worker.delivery:moved',
  'worker.setDeliveryPaused',
  'worker.recordReminder',
  // The change of a passphrase is killed at in cli/keystore.
  'keystore.written',
  'keystore.verified',
  'keystore.replaced',
];

/** One failpoint in one scenario. */
interface Case {
  readonly scenario: Scenario;
  readonly failpoint: string;
}

/** Every failpoint of every scenario. */
export const everyCase: readonly Case[] = Object.entries(points).flatMap(([scenario, of]) =>
  of.map((failpoint) => ({ scenario: scenario as Scenario, failpoint })),
);

/** The part of the service that a failpoint is in. */
function partOf(failpoint: string): Role {
  return failpoint.slice(0, failpoint.indexOf('.')) as Role;
}

function nameOf({ scenario, failpoint }: Case): string {
  return `${scenario}, ${failpoint}`;
}

/**
 * Kills one process at one failpoint of one transaction, starts it again, and counts effects. It is started with the point
 * of the next case, which that arms when this one is over.
 */
async function run(
  fixture: PaymentFixture,
  { scenario, failpoint }: Case,
  next: Case | undefined,
): Promise<void> {
  const { victim } = fixture;
  const http = (): HttpClient => (partOf(failpoint) === 'api' ? victim.http : fixture.api.http);
  let died = false;
  let over = false;
  let broken: unknown;
  let resolveKilled: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    resolveKilled = resolve;
  });
  const startAgain = async () => {
    await victim.died();
    if (over) return;
    died = true;
    resolveKilled();
    await victim.start(next && unarmed(next.failpoint));
  };
  let revived = Promise.resolve();
  const watch = () => {
    revived = startAgain().catch((error) => {
      broken = error;
    });
  };
  const stopsByHand = scenario === 'payAfterReorganization';
  const startVictim = async () => {
    await victim.start(failpoint);
    watch();
  };
  const contracts = { revertInBlock: fixture.contracts.priced, revertBefore: fixture.contracts.reverting };
  const payment = new Payment(
    fixture,
    http,
    killed,
    startVictim,
    contracts[scenario as keyof typeof contracts],
  );
  if (!stopsByHand) {
    await victim.arm();
    watch();
  }
  try {
    const outcome = await SCENARIOS[scenario](payment);
    // The last failpoint may be reached only after the scenario has ended.
    await until(`a process reached ${failpoint}`, async () => died);
    await revived;
    if (broken) throw broken;
    await expectOneEffect(payment, outcome, http());
  } finally {
    over = true;
  }
}

let starting: Promise<unknown> = Promise.resolve();

/** Starts a fixture once the earlier ones have started: starting together slows all of them down. */
function startInTurn({ failpoint }: Case): Promise<PaymentFixture> {
  const start = () => PaymentFixture.start(partOf(failpoint), failpoint);
  const fixture = starting.then(start).catch(start);
  starting = fixture.catch(() => undefined);
  return fixture;
}

/** Runs cases one after the other with one fixture, which is replaced after a failure. */
async function runCases(left: Case[], settle: Map<string, (error?: unknown) => void>): Promise<void> {
  let fixture: PaymentFixture | undefined;
  for (let one = left.shift(); one; ) {
    const next = left.shift();
    try {
      fixture ??= await startInTurn(one);
      await run(fixture, one, next);
      settle.get(nameOf(one))?.();
    } catch (error) {
      settle.get(nameOf(one))?.(error);
      await fixture?.stop().catch(() => undefined);
      fixture = undefined;
    }
    one = next;
  }
  await fixture?.stop();
}

/** Declares a test for each of the cases; they run concurrently. */
export function describeKilling(cases: readonly Case[]): void {
  const outcomes = new Map<string, Promise<unknown>>();
  let running: Promise<unknown>;

  beforeAll(() => {
    const settle = new Map<string, (error?: unknown) => void>();
    for (const one of cases) {
      outcomes.set(nameOf(one), new Promise((resolve) => settle.set(nameOf(one), resolve)));
    }
    running = Promise.all(
      Object.entries(CONCURRENCY).flatMap(([part, count]) => {
        const left = cases.filter(({ failpoint }) => partOf(failpoint) === part);
        return Array.from({ length: count }, () => runCases(left, settle));
      }),
    );
  });
  afterAll(() => running, 60_000);

  describe('a transaction has one effect, wherever a process is killed', () => {
    it.each(cases.map((one) => [nameOf(one)]))(
      '%s',
      async (name) => {
        const error = await outcomes.get(name);
        if (error) throw error;
      },
      600_000,
    );
  });
}

/** The names of all failpoints in the sources. */
function failpointsInSources(): string[] {
  const found = new Set<string>();
  for (const folder of ['src', 'activities']) {
    const files = readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const text = readFileSync(join(projectRoot(), folder, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/failpoint\('([^']+)'\)/g)) found.add(name);
    }
  }
  return [...found];
}

/** The failpoints of an execution that no case covers. */
export function uncoveredFailpoints(): string[] {
  const nothing = {} as never;
  const relaying = { withoutSlot: inSlot } as never;
  const activities = {
    worker: createWorkerActivities(nothing),
    chain: createChainActivities(relaying),
    signer: createSignerActivities(nothing),
  };
  const wrapped = Object.entries(activities).flatMap(([part, of]) =>
    Object.keys(of)
      .map((name) => `${part}.${name}`)
      .filter((name) => !notInExecution.includes(name))
      .flatMap((name) => [`${name}:before`, `${name}:after`]),
  );
  const inSources = failpointsInSources().filter((name) => !notInExecution.includes(name));
  const tried = new Set(everyCase.map(({ failpoint }) => failpoint.replace(/#\d+$/, '')));
  return [...inSources, ...wrapped].filter((name) => !tried.has(name));
}
