import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLifecycleActivities } from '../../activities/lifecycle';
import { createRelayerActivities } from '../../activities/relayer/chain';
import { createSignerActivities } from '../../activities/signer/signer';
import { createTransactionChainActivities } from '../../activities/transactions/chain';
import { createTransactionSignerActivities } from '../../activities/transactions/signer';
import type { Role } from '../../src/config';
import { projectRoot } from '../../src/projectRoot';
import type { HttpClient } from '../support/http';
import { until } from '../support/until';
import { expectOneEffect } from './oneEffect';
import { Payer, unarmed } from './payer';
import { Payment, WAYS, type Way } from './payments';

/** How many services run side by side, by what is killed: nearly all of the time is waiting until Temporal notices. */
const LANES: { readonly [part in Role]: number } = { signer: 2, chain: 3, worker: 3, api: 1 };

/** Where somebody is killed, on the way to what. */
const points: { readonly [way in Way]: readonly string[] } = {
  // Those that Temporal takes longest to notice come first.
  payTwiceOver: [
    'chain.attemptReopened',
    'chain.usageReopened',
    'chain.findLostTransactions:before',
    'chain.findLostTransactions:after',
    'worker.wakeReopened:before',
    'worker.wakeReopened:after',
  ],
  giveUp: [
    'signer.signCancellation:before',
    'signer.signCancellation:after',
    'signer.cancellationStored',
    'signer.envelopeStored#2',
    'worker.requestCancellation:before',
    'worker.cancellationRequested',
    'worker.requestCancellation:after',
    'worker.attemptDecided',
    'worker.usageReleased',
    'chain.outcomeSeen',
  ],
  payBehindGap: ['signer.fillNonce:before', 'signer.fillNonce:after', 'signer.fillerStored'],
  payWhenBack: ['worker.reportWaiting:before', 'worker.reportWaiting:after'],
  payAfterRefill: [
    'chain.awaitRelayer:before',
    'chain.awaitRelayer:after',
    'worker.executionFailed',
    'worker.beginExecution:before#2',
    'worker.usageReserved#2',
    'worker.beginExecution:after#2',
  ],
  revertInBlock: [
    'chain.followTransaction:after',
    'chain.envelopeDecided',
    'chain.outcomeSeen',
    'worker.finishTransaction:before',
    'worker.attemptDecided',
    'worker.usageReleased',
    'worker.executionFailed',
    'worker.finishTransaction:after',
  ],
  revertBefore: [
    'chain.prepareTransaction:after',
    'worker.finishTransaction:before',
    'worker.usageReleased',
    'worker.executionFailed',
    'worker.finishTransaction:after',
  ],
  pay: [
    'signer.signTransaction:before',
    'signer.attemptStored',
    'signer.envelopeStored',
    'signer.signTransaction:after',
    'chain.prepareTransaction:before',
    'chain.prepareTransaction:after',
    'chain.followTransaction:before',
    'chain.sending',
    'chain.sent',
    'chain.sentStored',
    'chain.noted',
    'chain.confirmed',
    'chain.envelopeDecided',
    'chain.outcomeSeen',
    'chain.followTransaction:after',
    'worker.createApproval:before',
    'worker.approvalStored',
    'worker.createApproval:after',
    'worker.recordVote:before',
    'worker.voteStored',
    'worker.recordVote:after',
    'worker.beginExecution:before',
    'worker.usageReserved',
    'worker.executionStarted',
    'worker.beginExecution:after',
    'worker.finishTransaction:before',
    'worker.attemptDecided',
    'worker.usageCommitted',
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
  payApproved: [
    'worker.recordVote:before#2',
    'worker.voteStored#2',
    'worker.recordVote:after#2',
    'worker.beginExecution:before',
    'worker.usageReserved',
    'worker.executionStarted',
    'worker.beginExecution:after',
    'api.requestChecked#4',
    'api.requestStored#4',
    'api.workflowAnswered#4',
    'api.answerStored#4',
  ],
};

/** What is on no way from a reservation to its end: it only reads, or has nothing to do with an execution. */
const elsewhere = [
  'chain.sendEnvelope',
  'signer.provideSigningKey',
  'worker.expireApproval',
  // Deployments are killed at in workersKilled.
  'worker.finishDeployments',
  'worker.recordDeployment',
  'worker.refreshNoted',
  'worker.reportDeployment',
  'worker.readApproval',
  'worker.recordRestored',
];

/** One place to die, on one way. */
export interface Case {
  readonly way: Way;
  readonly failpoint: string;
}

/** Every place on every way. */
export const everyCase: readonly Case[] = Object.entries(points).flatMap(([way, of]) =>
  of.map((failpoint) => ({ way: way as Way, failpoint })),
);

/** The part of the service that a failpoint is in. */
function partOf(failpoint: string): Role {
  return failpoint.slice(0, failpoint.indexOf('.')) as Role;
}

function nameOf({ way, failpoint }: Case): string {
  return `${way}, ${failpoint}`;
}

/**
 * Kills one process at one point of one transaction's way, starts it again, and counts. It is started with the point
 * of the next case, which that arms when this one is over.
 */
async function run(payer: Payer, { way, failpoint }: Case, next: Case | undefined): Promise<void> {
  const { victim } = payer;
  const http = (): HttpClient => (partOf(failpoint) === 'api' ? victim.http : payer.api.http);
  let died = false;
  let over = false;
  let broken: unknown;
  let tellKilled: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    tellKilled = resolve;
  });
  const startAgain = async () => {
    await victim.died();
    if (over) return;
    died = true;
    tellKilled();
    await victim.start(next && unarmed(next.failpoint));
  };
  let revived = Promise.resolve();
  const watch = () => {
    revived = startAgain().catch((error) => {
      broken = error;
    });
  };
  const stopsByHand = way === 'payTwiceOver';
  const startVictim = async () => {
    await victim.start(failpoint);
    watch();
  };
  const contracts = { revertInBlock: payer.contracts.priced, revertBefore: payer.contracts.reverting };
  const payment = new Payment(payer, http, killed, startVictim, contracts[way as keyof typeof contracts]);
  if (!stopsByHand) {
    await victim.arm();
    watch();
  }
  try {
    const outcome = await WAYS[way](payment);
    // The last point lies behind what the way waits for.
    await until(`somebody came to ${failpoint}`, async () => died);
    await revived;
    if (broken) throw broken;
    await expectOneEffect(payment, outcome, http());
  } finally {
    over = true;
  }
}

let starting: Promise<unknown> = Promise.resolve();

/** Starts a payer when those before it have started: all at once they would be in each other's way. */
function startAlone({ failpoint }: Case): Promise<Payer> {
  const start = () => Payer.start(partOf(failpoint), failpoint);
  const payer = starting.then(start).catch(start);
  starting = payer.catch(() => undefined);
  return payer;
}

/** Works through the cases with a service of its own, which it makes anew after a failure. */
async function lane(left: Case[], told: Map<string, (error?: unknown) => void>): Promise<void> {
  let payer: Payer | undefined;
  for (let one = left.shift(); one; ) {
    const next = left.shift();
    try {
      payer ??= await startAlone(one);
      await run(payer, one, next);
      told.get(nameOf(one))?.();
    } catch (error) {
      told.get(nameOf(one))?.(error);
      await payer?.stop().catch(() => undefined);
      payer = undefined;
    }
    one = next;
  }
  await payer?.stop();
}

/** Declares a test for each of the cases; they go on side by side. */
export function describeKilling(cases: readonly Case[]): void {
  const outcomes = new Map<string, Promise<unknown>>();
  let lanes: Promise<unknown>;

  beforeAll(() => {
    const told = new Map<string, (error?: unknown) => void>();
    for (const one of cases) {
      outcomes.set(nameOf(one), new Promise((resolve) => told.set(nameOf(one), resolve)));
    }
    lanes = Promise.all(
      Object.entries(LANES).flatMap(([part, count]) => {
        const left = cases.filter(({ failpoint }) => partOf(failpoint) === part);
        return Array.from({ length: count }, () => lane(left, told));
      }),
    );
  });
  afterAll(() => lanes, 60_000);

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

/** Names of all places in the sources where a process can be killed. */
function placesInSources(): string[] {
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

/** The places on the way of an execution that no case is about. */
export function placesLeftOut(): string[] {
  const nothing = {} as never;
  const activities = {
    worker: createLifecycleActivities(nothing),
    chain: { ...createRelayerActivities(nothing), ...createTransactionChainActivities(nothing) },
    signer: { ...createSignerActivities(nothing), ...createTransactionSignerActivities(nothing) },
  };
  const wrapped = Object.entries(activities).flatMap(([part, of]) =>
    Object.keys(of)
      .map((name) => `${part}.${name}`)
      .filter((name) => !elsewhere.includes(name))
      .flatMap((name) => [`${name}:before`, `${name}:after`]),
  );
  const tried = new Set(everyCase.map(({ failpoint }) => failpoint.replace(/#\d+$/, '')));
  return [...placesInSources(), ...wrapped].filter((name) => !tried.has(name));
}
