import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { DeploymentFollowed, FollowDeployment } from '../../activities/deployments/followDeployment';
import type { DeploymentObservation } from '../../activities/deployments/observe';
import type { EnvelopeTerms } from '../../src/domain/terms';
import { createLogger } from '../../src/logging';
import type { SigningResult } from '../../src/signer/refusal';
import { networkQueue } from '../../src/temporal/ids';
import { installTemporalRuntime } from '../../src/workers';
import type { deployOnly } from '../chain/workflow/deployOnly';
import { sharedStack } from '../support/stack';

const key = { organizationId: 'org_1', proposalId: 'prop_1', accountId: 'acc_1', networkId: 31_337 };
const fees = { maxFeePerGas: '1', maxPriorityFeePerGas: '1' };
const terms: EnvelopeTerms = { gas: '1', ...fees, relayerAddress: '0x1', chainNonce: 0, head: '0' };
const raised: EnvelopeTerms = { ...terms, maxFeePerGas: '2', replaces: '1' };
const needsEnvelope = { kind: 'needsEnvelope', terms } as const;
const deployed = { kind: 'deployed', transactionHash: '0xabc', blockNumber: '7' } as const;
const completed = { status: 'completed', transactionHash: '0xabc', blockNumber: '7' };

let bundle: WorkflowBundleWithSourceMap;
let native: NativeConnection;
let connection: Connection;
let runs = 0;

beforeAll(async () => {
  await installTemporalRuntime(createLogger('error'));
  const address = sharedStack().temporalAddress;
  bundle = await bundleWorkflowCode({
    workflowsPath: require.resolve('../chain/workflow/deployOnly.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  native = await NativeConnection.connect({ address });
  connection = await Connection.connect({ address });
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await native?.close();
});

interface Asked {
  readonly sign: EnvelopeTerms[];
  readonly follow: { envelopeId: string; reported: string | null }[];
  readonly fill: number[];
}

/** Runs a deployment against what the chain worker and the signer answer, in turn; the last answer stays. */
async function run(script: {
  observe: readonly DeploymentObservation[];
  sign?: readonly SigningResult[];
  follow?: readonly DeploymentFollowed[];
}) {
  const asked: Asked = { sign: [], follow: [], fill: [] };
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
  const queue = `deploy-only-${process.pid}-${runs}`;
  const taskQueue = networkQueue(queue, key.networkId);
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
      followDeployment: async ({ envelopeId, reported }: FollowDeployment) => {
        asked.follow.push({ envelopeId, reported });
        return follow();
      },
      fillNonce: async ({ nonce }: { nonce: number }) => {
        asked.fill.push(nonce);
        return { envelopeId: '100' };
      },
    },
  });
  const outcome = await worker.runUntil(
    new Client({ connection }).workflow.execute<typeof deployOnly>('deployOnly', {
      workflowId: taskQueue,
      taskQueue,
      args: [key, queue],
    }),
  );
  return { ...outcome, asked };
}

test('signs nothing for an account that is deployed', async () => {
  expect(await run({ observe: [deployed] })).toMatchObject({ result: completed, reports: [] });
});

test('signs, follows and looks again for an account that is not deployed', async () => {
  const done = await run({
    observe: [needsEnvelope, { kind: 'confirming', message: 'waits' }, deployed],
    sign: [{ envelopeId: '1' }],
    follow: [{ kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed, reports: [] });
  expect(done.asked).toEqual({ sign: [terms], follow: [{ envelopeId: '1', reported: null }], fill: [] });
});

test('follows what is in flight without a new signature', async () => {
  const done = await run({
    observe: [{ kind: 'inFlight', envelopeId: '4' }, deployed],
    follow: [{ kind: 'dropped' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.sign).toEqual([]);
});

test('reports what it waits for once, and clears the report at the end', async () => {
  const done = await run({
    observe: [{ kind: 'inFlight', envelopeId: '4' }, deployed],
    follow: [
      { kind: 'waiting', message: 'unavailable' },
      { kind: 'waiting', message: null },
      { kind: 'waiting', message: 'insufficient funds' },
      { kind: 'mined' },
    ],
  });
  const reports = ['unavailable', null, 'insufficient funds'];
  expect(done).toMatchObject({ result: completed, reports: [...reports, null] });
  expect(done.asked.follow.map(({ reported }) => reported)).toEqual([null, ...reports]);
});

test('replaces a stuck envelope and follows the replacement', async () => {
  const done = await run({
    observe: [needsEnvelope, { kind: 'inFlight', envelopeId: '2' }, deployed],
    sign: [{ envelopeId: '1' }, { envelopeId: '2' }],
    follow: [{ kind: 'stuck', terms: raised }, { kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.sign).toEqual([terms, raised]);
  expect(done.asked.follow.map(({ envelopeId }) => envelopeId)).toEqual(['1', '2']);
});

test('goes on following what is in flight when the signer does not raise the fee', async () => {
  const done = await run({
    observe: [needsEnvelope, { kind: 'inFlight', envelopeId: '1' }, deployed],
    sign: [{ envelopeId: '1' }, { refused: { code: 'stale', message: 'an admin left' } }],
    follow: [{ kind: 'stuck', terms: raised }, { kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed });
  expect(done.asked.follow.map(({ envelopeId }) => envelopeId)).toEqual(['1', '1']);
});

test('fills an unused nonce before its own and goes on', async () => {
  const done = await run({
    observe: [{ kind: 'inFlight', envelopeId: '4' }, { kind: 'inFlight', envelopeId: '4' }, deployed],
    follow: [{ kind: 'gap', nonce: 7, terms }, { kind: 'mined' }],
  });
  expect(done).toMatchObject({ result: completed, reports: [] });
  expect(done.asked).toMatchObject({ sign: [], fill: [7] });
});

test('fails with the refusal of the signer', async () => {
  const refused = { code: 'stale', message: 'not enough approvals' } as const;
  expect(await run({ observe: [needsEnvelope], sign: [{ refused }] })).toMatchObject({
    result: { status: 'failed', failure: refused },
  });
});

test('fails with its transaction after two reverts', async () => {
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

test('retries a network that is unavailable before anything is signed', async () => {
  const unreachable = { kind: 'unreachable', message: 'unavailable' } as const;
  const done = await run({ observe: [unreachable, deployed] });
  expect(done).toMatchObject({ result: completed, reports: ['unavailable'] });
});
