import { proxyActivities, sleep } from '@temporalio/workflow';
import type { ChainActivities, EnvelopeOutcome } from '../activities/chain';
import type { DeploymentKey, DeploymentResult } from '../activities/proposals';
import type { EnvelopeTerms, SignerActivities } from '../activities/signer';
import type { Failure } from '../src/domain/proposal';

/** How long a network that does not answer is asked again before anything is signed. */
const PATIENCE_BEFORE_SIGNING_MS = 20_000;
/** How long it may be silent before the record says so, once something is signed. */
const PATIENCE_AFTER_SIGNING_MS = 10_000;
/** And how long one watch then lasts: the bytes may land at any time, so watching never ends by itself. */
const LONG_PATIENCE_MS = 600_000;
const CONFIRMATION_POLL_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
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

  let silentSince: number | undefined;
  let backoffMs = 1_000;
  let reverts = 0;
  let told: string | null = null;

  async function tell(waitingFor: string | null): Promise<void> {
    if (waitingFor === told) return;
    told = waitingFor;
    await context.report(waitingFor);
  }

  async function backOff(message: string): Promise<void> {
    await tell(message);
    await sleep(backoffMs, { summary: `Ask network ${key.networkId} again` });
    backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
  }

  async function follow(envelopeId: string): Promise<EnvelopeOutcome> {
    const patienceMs = told === null ? PATIENCE_AFTER_SIGNING_MS : LONG_PATIENCE_MS;
    return followEnvelope({ envelopeId, networkId: key.networkId, patienceMs });
  }

  async function signAndFollow(terms: EnvelopeTerms): Promise<DeploymentResult | EnvelopeOutcome> {
    const signed = await signDeployment({ ...key, terms });
    return 'refused' in signed ? failed(signed.refused) : follow(signed.envelopeId);
  }

  for (;;) {
    const seen = await observeDeployment(key);
    let outcome: DeploymentResult | EnvelopeOutcome;
    switch (seen.kind) {
      case 'deployed':
        return { status: 'completed', transactionHash: seen.transactionHash, blockNumber: seen.blockNumber };
      case 'failed':
        return failed(seen.failure);
      case 'confirming':
        await sleep(CONFIRMATION_POLL_MS, { summary: `Confirmations on network ${key.networkId}` });
        continue;
      case 'unreachable':
        silentSince ??= Date.now();
        if (!seen.signed && Date.now() - silentSince >= PATIENCE_BEFORE_SIGNING_MS) {
          return failed({ code: 'rpc', message: seen.message });
        }
        await backOff(seen.message);
        continue;
      case 'needsEnvelope':
        outcome = await signAndFollow(seen.terms);
        break;
      case 'inFlight':
        outcome = await follow(seen.envelopeId);
        break;
    }
    silentSince = undefined;
    while ('kind' in outcome && outcome.kind === 'stuck') outcome = await signAndFollow(outcome.terms);
    if ('status' in outcome) return outcome;
    if (outcome.kind === 'unreachable') {
      await backOff(outcome.message);
      continue;
    }
    backoffMs = 1_000;
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
