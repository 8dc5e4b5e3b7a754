import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { FollowTransaction } from '../../activities/transactions/followTransaction';
import type { TransactionFollowed, TransactionObservation } from '../../activities/transactions/observation';
import type { PrepareTransaction } from '../../activities/transactions/prepare';
import type { TransactionTerms } from '../../src/domain/terms';
import type { AttemptOutcome } from '../../src/domain/transaction';
import { createLogger } from '../../src/logging';
import type { SigningResult } from '../../src/signer/refusal';
import { networkQueue } from '../../src/temporal/ids';
import { installTemporalRuntime } from '../../src/workers';
import { cancelSignal, type executeOnly } from '../chain/workflow/executeOnly';
import { sharedStack } from '../support/stack';

const ref = { organizationId: 'org_1', transactionId: 'txn_1' };
const NETWORK_ID = 31_337;
const SLOW = 'the signer reads slowly';
const terms = { gas: '1', safeTxGas: '1' } as TransactionTerms;
const needsPayment = { kind: 'needsEnvelope', terms, cancels: false, attempted: false } as const;
const needsCancellation = { kind: 'needsEnvelope', terms, cancels: true, attempted: true } as const;
const unreachable = { kind: 'unreachable', message: 'the network is unavailable' } as const;
const executed = { kind: 'decided', outcome: { kind: 'executed' } as AttemptOutcome } as const;
const held = { held: SLOW } as SigningResult;

let bundle: WorkflowBundleWithSourceMap;
let native: NativeConnection;
let connection: Connection;
let runs = 0;

beforeAll(async () => {
  await installTemporalRuntime(createLogger('error'));
  const address = sharedStack().temporalAddress;
  bundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('../chain/workflow/executeOnly.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  native = await NativeConnection.connect({ address });
  connection = await Connection.connect({ address });
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await native?.close();
});

/** Runs an execution against answers in turn; `cancel` is called where an answer says so, before it is given. */
async function run(script: {
  observe: readonly TransactionObservation[];
  sign?: readonly SigningResult[];
  follow?: readonly TransactionFollowed[];
  /** The cancellation is requested during this activity. */
  cancelDuring?: 'prepareTransaction' | 'signTransaction' | 'followTransaction';
}) {
  const asked: string[] = [];
  runs += 1;
  const queue = `execute-only-${process.pid}-${runs}`;
  const taskQueue = networkQueue(queue, NETWORK_ID);
  const { workflow } = new Client({ connection });
  let isCancelled = false;
  const answer = async <T>(name: string, what: string, answers: T[]): Promise<T> => {
    asked.push(what);
    if (name === script.cancelDuring && !isCancelled) {
      isCancelled = true;
      await workflow.getHandle(taskQueue).signal(cancelSignal);
    }
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next === undefined) throw new Error(`${what} was not expected to be asked`);
    return next;
  };
  const [observe, sign, follow] = [[...script.observe], [...(script.sign ?? [])], [...(script.follow ?? [])]];
  const activities = {
    prepareNewTransaction: async () => null,
    prepareTransaction: ({ cancel }: PrepareTransaction) =>
      answer('prepareTransaction', cancel ? 'observe to cancel' : 'observe', observe),
    signTransaction: () => answer('signTransaction', 'sign', sign),
    signCancellation: () => answer('signCancellation', 'sign the cancellation', sign),
    followTransaction: ({ envelopeId }: FollowTransaction) =>
      answer('followTransaction', `follow ${envelopeId}`, follow),
  };
  const on = { connection: native, workflowBundle: bundle, activities };
  const worker = await Worker.create({ ...on, taskQueue });
  const outcome = await worker.runUntil(
    workflow.execute<typeof executeOnly>('executeOnly', {
      workflowId: taskQueue,
      taskQueue,
      args: [ref, queue, SLOW],
    }),
  );
  return { ...outcome, asked };
}

const decided = { result: { status: 'decided' } };

describe('a cancellation that is requested', () => {
  const cancelled = ['observe to cancel', 'sign the cancellation', 'follow 2'];

  test('while the payment is signed is signed before the payment is sent', async () => {
    const done = await run({
      observe: [needsPayment, needsCancellation],
      sign: [{ envelopeId: '1' }, { envelopeId: '2' }],
      follow: [executed],
      cancelDuring: 'signTransaction',
    });
    expect(done).toMatchObject(decided);
    expect(done.asked).toEqual(['observe', 'sign', ...cancelled]);
  });

  test('while the payment is found in flight is signed before the payment is sent again', async () => {
    const done = await run({
      observe: [{ kind: 'inFlight', envelopeId: '1' }, needsCancellation],
      sign: [{ envelopeId: '2' }],
      follow: [executed],
      cancelDuring: 'prepareTransaction',
    });
    expect(done).toMatchObject(decided);
    expect(done.asked).toEqual(['observe', ...cancelled]);
  });
});

describe('a network that was unavailable before anything was signed', () => {
  test('is retried for as long as ever when it is unavailable once more an hour after it has answered', async () => {
    const done = await run({
      observe: [unreachable, needsPayment, unreachable, needsPayment],
      sign: [held, { envelopeId: '1' }],
      follow: [executed],
    });
    expect(done).toMatchObject(decided);
  });

  test('for the signer is retried so too once the signer has answered', async () => {
    const away = { unreachable: 'the endpoint of the signer is unavailable' } as SigningResult;
    const done = await run({
      observe: [needsPayment],
      sign: [away, held, away, { envelopeId: '1' }],
      follow: [executed],
    });
    expect(done).toMatchObject(decided);
  });
});
