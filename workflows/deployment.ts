import { proxyActivities, sleep } from '@temporalio/workflow';
import type { ChainActivities, EnvelopeOutcome } from '../activities/chain';
import type { DeploymentKey, DeploymentResult } from '../activities/proposals';
import type { SignerActivities } from '../activities/signer';
import type { Failure } from '../src/domain/proposal';

/** How long a network that does not answer is asked again before anything is signed. */
const PATIENCE_BEFORE_SIGNING_MS = 20_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const MAX_PAUSE_BEFORE_SIGNING_MS = 5_000;
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
  let silentSince: number | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let looks = 0;
  let reverts = 0;
  let told: string | null = null;

  async function tell(waitingFor: string | null): Promise<void> {
    if (waitingFor === told) return;
    told = waitingFor;
    await context.report(waitingFor);
  }

  async function pause(why: string, longestMs = MAX_PAUSE_MS): Promise<void> {
    await sleep(pauseMs, { summary: why });
    pauseMs = Math.min(pauseMs * 2, longestMs);
  }

  /** Waits out a network that is away before anything is signed; the failure, when patience ends. */
  async function outwait(message: string): Promise<DeploymentResult | undefined> {
    silentSince ??= Date.now();
    if (Date.now() - silentSince >= PATIENCE_BEFORE_SIGNING_MS) return failed({ code: 'rpc', message });
    await tell(message);
    await pause(`Ask network ${networkId} again`, MAX_PAUSE_BEFORE_SIGNING_MS);
    return undefined;
  }

  /** Follows an envelope to its end. The waiting is inside the activity, so that it does not fill the history. */
  async function follow(envelopeId: string): Promise<EnvelopeOutcome> {
    for (;;) {
      const outcome = await followEnvelope({ envelopeId, networkId, told });
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
        const given = await outwait(seen.message);
        if (given) return given;
        continue;
      }
      case 'needsEnvelope': {
        const signed = await signDeployment({ ...key, terms: seen.terms });
        if ('refused' in signed) return failed(signed.refused);
        if ('unreachable' in signed) {
          const given = await outwait(signed.unreachable);
          if (given) return given;
          continue;
        }
        envelopeId = signed.envelopeId;
        break;
      }
      case 'inFlight':
        envelopeId = seen.envelopeId;
        break;
    }
    silentSince = undefined;
    pauseMs = FIRST_PAUSE_MS;
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
