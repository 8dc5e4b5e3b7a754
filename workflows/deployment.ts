import { proxyActivities } from '@temporalio/workflow';
import type { ChainActivities, EnvelopeOutcome } from '../activities/chain';
import type { DeploymentKey, DeploymentResult } from '../activities/proposals';
import type { SignerActivities } from '../activities/signer';
import type { Failure } from '../src/domain/proposal';
import { createPatience } from './patience';

/** The first pause between two looks, in milliseconds. */
const FIRST_PAUSE_MS = 1_000;
/** Confirmations that come within so many looks are not worth telling. */
const QUIET_LOOKS = 4;
/** A deployment that reverts twice would revert again. */
const MAX_REVERTS = 2;

/** Where a deployment works, and how it tells what it waits for (null: for nothing any more). */
export interface DeploymentContext {
  readonly queues: { readonly chain: string; readonly signer: string };
  readonly report: (waitingFor: string | null) => Promise<void>;
}

function failed(failure: Pick<Failure, 'code' | 'message'> & { transactionHash?: string }): DeploymentResult {
  return { status: 'failed', failure };
}

/**
 * Deploys one account on one network, whatever state it is found in: already there, on its way, or not begun.
 * Nothing is signed twice for the same need, and nothing is sent that is not stored.
 */
export async function deployOnNetwork(
  key: DeploymentKey,
  context: DeploymentContext,
): Promise<DeploymentResult> {
  const summary = `${key.accountId} on network ${key.networkId}`;
  const { observeDeployment } = proxyActivities<ChainActivities>({
    taskQueue: context.queues.chain,
    startToCloseTimeout: '30s',
    // It only reads; what goes wrong here is the database or a worker, which come back.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Look for ${summary}`,
  });
  const { followEnvelope } = proxyActivities<ChainActivities>({
    taskQueue: context.queues.chain,
    startToCloseTimeout: '30m',
    heartbeatTimeout: '15s',
    // The same stored bytes are sent again; the chain takes a nonce once.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Send and follow the deployment of ${summary}`,
  });
  const { signDeployment } = proxyActivities<SignerActivities>({
    taskQueue: context.queues.signer,
    startToCloseTimeout: '30s',
    // A second call answers the envelope of the first; a refusal is an answer and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Verify all evidence and sign the deployment of ${summary}`,
  });

  const { networkId } = key;
  let looks = 0;
  let reverts = 0;

  const { tell, told, pause, outwait, moved } = createPatience({
    networkId,
    firstPauseMs: FIRST_PAUSE_MS,
    report: context.report,
  });

  /** Follows an envelope to its end. The waiting is inside the activity, so that it does not fill the history. */
  async function follow(envelopeId: string): Promise<EnvelopeOutcome> {
    for (;;) {
      const outcome = await followEnvelope({ envelopeId, networkId, told: told() });
      if (outcome.kind !== 'waiting') return outcome;
      await tell(outcome.message);
    }
  }

  for (;;) {
    const seen = await observeDeployment(key);
    let envelopeId: string;
    switch (seen.kind) {
      case 'deployed':
        return { status: 'completed', transactionHash: seen.transactionHash, blockNumber: seen.blockNumber };
      case 'failed':
        return failed(seen.failure);
      case 'confirming':
        looks += 1;
        if (looks > QUIET_LOOKS) await tell(seen.message);
        await pause(`Confirmations on network ${networkId}`);
        continue;
      case 'unreachable': {
        if (!(await outwait(seen.message))) return failed({ code: 'rpc', message: seen.message });
        continue;
      }
      case 'needsEnvelope': {
        const signed = await signDeployment({ ...key, terms: seen.terms });
        if ('refused' in signed) return failed(signed.refused);
        if ('unreachable' in signed) {
          const message = signed.unreachable;
          if (!(await outwait(message))) return failed({ code: 'rpc', message });
          continue;
        }
        envelopeId = signed.envelopeId;
        break;
      }
      case 'inFlight':
        envelopeId = seen.envelopeId;
        break;
    }
    moved();
    let outcome = await follow(envelopeId);
    while (outcome.kind === 'stuck') {
      // Whatever keeps the signer from raising the fee, the bytes that are out may still land.
      const raised = await signDeployment({ ...key, terms: outcome.terms });
      if ('envelopeId' in raised) envelopeId = raised.envelopeId;
      else await pause(`Raise the fee on network ${networkId} later`);
      outcome = await follow(envelopeId);
    }
    await tell(null);
    if (outcome.kind === 'reverted') {
      reverts += 1;
      if (reverts >= MAX_REVERTS) {
        const { transactionHash } = outcome;
        return failed({ code: 'reverted', message: 'the deployment reverted on chain', transactionHash });
      }
    }
  }
}
