import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { DeploymentObservation, EnvelopeOutcome } from '../../activities/chain';
import type { EnvelopeTerms, SigningResult } from '../../activities/signer';
import { sharedStack } from '../support/stack';
import type { deployOnly } from './workflow/deployOnly';

const key = { organizationId: 'org_1', proposalId: 'prop_1', accountId: 'acc_1', networkId: 31_337 };
const terms: EnvelopeTerms = { gas: '1', maxFeePerGas: '1', maxPriorityFeePerGas: '1', chainNonce: 0 };
const raised: EnvelopeTerms = { ...terms, maxFeePerGas: '2', replaces: '1' };
const needsEnvelope = { kind: 'needsEnvelope', terms } as const;
const deployed = { kind: 'deployed', transactionHash: '0xabc', blockNumber: '7' } as const;
const completed = { status: 'completed', transactionHash: '0xabc', blockNumber: '7' };

let bundle: WorkflowBundleWithSourceMap;
let native: NativeConnection;
let connection: Connection;
let runs = 0;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const address = sharedStack().temporalAddress;
  bundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('./workflow/deployOnly.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  native = await NativeConnection.connect({ address });
  connection = await Connection.connect({ address });
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await native?.close();
});

/** Runs a deployment against what the chain worker and the signer answer, in turn; the last answer stays. */
async function run(script: {
  observe: readonly DeploymentObservation[];
  sign?: readonly SigningResult[];
  follow?: readonly EnvelopeOutcome[];
}) {
  const asked: { sign: EnvelopeTerms[]; follow: { envelopeId: string; told: string | null }[] } = {
    sign: [],
    follow: [],
  };
  const inTurn = <T>(answers: readonly T[] = []) => {
    let turn = 0;
    return (): T => {
      const answer = answers[Math.min(turn, answers.length - 1)];
      turn += 1;
      if (answer === undefined) throw new Error('this was not expected to be asked');
      return answer;
    };
  };
  const [observe, sign, follow] = [inTurn(script.observe), inTurn(script.sign), inTurn(script.follow)];
  runs += 1;
  const taskQueue = `deploy-only-${process.pid}-${runs}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: bundle,
    activities: {
      observeDeployment: async () => observe(),
      signDeployment: async (input: { terms: EnvelopeTerms }) => {
        asked.sign.push(input.terms);
        return sign();
      },
      followEnvelope: async ({ envelopeId, told }: { envelopeId: string; told: string | null }) => {
        asked.follow.push({ envelopeId, told });
        return follow();
      },
    },
  });
  const outcome = await worker.runUntil(
    new Client({ connection }).workflow.execute<typeof deployOnly>('deployOnly', {
      workflowId: taskQueue,
      taskQueue,
      args: [key, taskQueue],
    }),
  );
  return { ...outcome, asked };
}

test('an account that is there needs no signature', async () => {
  expect(await run({ observe: [deployed] })).toMatchObject({ result: completed, reports: [] });
});

test('one that is not is signed, followed and looked for again', async () => {
  const done = await run({
    observe: [needsEnvelope, { kind: 'confirming', message: 'waits' }, deployed],
    sign: [{ envelopeId: '1' }],
    follow: [{ kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed, reports: [] });
  expect(done.asked).toEqual({ sign: [terms], follow: [{ envelopeId: '1', told: null }] });
});

test('what is on its way is followed without a new signature', async () => {
  const done = await run({
    observe: [{ kind: 'inFlight', envelopeId: '4' }, deployed],
    follow: [{ kind: 'dropped' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.sign).toEqual([]);
});

test('what it waits for is told once, and taken back at the end', async () => {
  const done = await run({
    observe: [{ kind: 'inFlight', envelopeId: '4' }, deployed],
    follow: [
      { kind: 'waiting', message: 'the network is away' },
      { kind: 'waiting', message: null },
      { kind: 'waiting', message: 'no coin' },
      { kind: 'mined' },
    ],
  });
  expect(done).toMatchObject({
    result: completed,
    reports: ['the network is away', null, 'no coin', null],
  });
  expect(done.asked.follow.map(({ told }) => told)).toEqual([null, 'the network is away', null, 'no coin']);
});

test('a stuck envelope is replaced and the replacement followed', async () => {
  const done = await run({
    observe: [needsEnvelope, deployed],
    sign: [{ envelopeId: '1' }, { envelopeId: '2' }],
    follow: [{ kind: 'stuck', terms: raised }, { kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.sign).toEqual([terms, raised]);
  expect(done.asked.follow.map(({ envelopeId }) => envelopeId)).toEqual(['1', '2']);
});

test('when the signer does not raise the fee, what is out is followed further', async () => {
  const done = await run({
    observe: [needsEnvelope, deployed],
    sign: [{ envelopeId: '1' }, { refused: { code: 'stale', message: 'an admin left' } }],
    follow: [{ kind: 'stuck', terms: raised }, { kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.follow.map(({ envelopeId }) => envelopeId)).toEqual(['1', '1']);
});

test('a refusal of the signer is the failure', async () => {
  const refused = { code: 'stale', message: 'not enough approvals' } as const;
  expect(await run({ observe: [needsEnvelope], sign: [{ refused }] })).toMatchObject({
    result: { status: 'failed', failure: refused },
  });
});

test('what reverts twice has failed, with its transaction', async () => {
  const done = await run({
    observe: [needsEnvelope],
    sign: [{ envelopeId: '1' }, { envelopeId: '2' }],
    follow: [
      { kind: 'reverted', transactionHash: '0x01' },
      { kind: 'reverted', transactionHash: '0x02' },
    ],
  });
  expect(done.result).toEqual({
    status: 'failed',
    failure: { code: 'reverted', message: expect.any(String), transactionHash: '0x02' },
  });
});

test('a network that comes back within 20 s costs only time', async () => {
  const done = await run({ observe: [{ kind: 'unreachable', message: 'away' }, deployed] });
  expect(done).toMatchObject({ result: completed, reports: ['away'] });
});
