import { proxyActivities } from '@temporalio/workflow';
import type { ChainActivities } from '../activities/chainActivities';
import type { DeploymentKey, DeploymentResult } from '../src/domain/proposal';
import type { EnvelopeTerms } from '../src/domain/terms';
import type { SignerActivities } from '../src/signer/activities';
import { networkQueue } from '../src/temporal/ids';
import { type Effect, type SettlementContext, settle } from './settlement';

const FIRST_PAUSE_MS = 1_000;
/** Confirmations within this many checks are not reported. */
const UNREPORTED_CHECKS = 4;
/** A deployment that reverts twice would revert again. */
const MAX_REVERTS = 2;

/** The activities of a deployment, and the summary of each for operators. */
function deploymentActivities(
  { accountId }: DeploymentKey,
  { networkId, queues }: SettlementContext,
): Pick<ChainActivities, 'observeDeployment' | 'followDeployment'> &
  Pick<SignerActivities, 'signDeployment'> {
  const summary = `${accountId} on network ${networkId}`;
  const { observeDeployment } = proxyActivities<ChainActivities>({
    taskQueue: networkQueue(queues.chain, networkId),
    startToCloseTimeout: '30s',
    // It only reads; a failure is of the database or a worker, and temporary.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Look for ${summary}`,
  });
  const { followDeployment } = proxyActivities<ChainActivities>({
    taskQueue: networkQueue(queues.chain, networkId),
    startToCloseTimeout: '30m',
    heartbeatTimeout: '30s',
    // The same stored bytes are sent again; the chain takes a nonce once.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Send and follow the deployment of ${summary}`,
  });
  const { signDeployment } = proxyActivities<SignerActivities>({
    taskQueue: networkQueue(queues.signer, networkId),
    startToCloseTimeout: '30s',
    // A second call returns the envelope of the first; a refusal is a result and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Verify all evidence and sign the deployment of ${summary}`,
  });
  return { observeDeployment, followDeployment, signDeployment };
}

function failed(failure: Extract<DeploymentResult, { status: 'failed' }>['failure']): DeploymentResult {
  return { status: 'failed', failure };
}

/** Deploys one account on one network, from any state: deployed, in flight, or not begun. */
export async function deployOnNetwork(
  key: DeploymentKey,
  context: Omit<SettlementContext, 'networkId'>,
): Promise<DeploymentResult> {
  const { networkId } = key;
  const on = { ...context, networkId };
  const { observeDeployment, followDeployment, signDeployment } = deploymentActivities(key, on);
  let reverts = 0;

  const deployment: Effect<DeploymentResult, EnvelopeTerms> = {
    unreportedChecks: UNREPORTED_CHECKS,
    firstPauseMs: FIRST_PAUSE_MS,
    async observe() {
      const seen = await observeDeployment(key);
      switch (seen.kind) {
        case 'deployed': {
          const { transactionHash, blockNumber } = seen;
          return { kind: 'done', result: { status: 'completed', transactionHash, blockNumber } };
        }
        case 'failed':
          return { kind: 'done', result: failed(seen.failure) };
        case 'needsEnvelope':
          return { kind: 'needsEnvelope', need: seen.terms, attempted: false };
        default:
          return seen;
      }
    },
    sign: (terms) => signDeployment({ ...key, terms }),
    async follow(envelopeId, reported) {
      const followed = await followDeployment({ envelopeId, networkId, reported });
      switch (followed.kind) {
        case 'stuck':
          return { kind: 'stuck', need: followed.terms };
        case 'gap':
        case 'waiting':
          return followed;
        case 'reverted': {
          reverts += 1;
          if (reverts < MAX_REVERTS) return { kind: 'ended' };
          const { transactionHash } = followed;
          const message = 'the deployment reverted on chain';
          return { kind: 'done', result: failed({ code: 'reverted', message, transactionHash }) };
        }
        default:
          return { kind: 'ended' };
      }
    },
    refused: failed,
    unavailable: (message) => failed({ code: 'rpc', message }),
  };
  return settle(deployment, on);
}
