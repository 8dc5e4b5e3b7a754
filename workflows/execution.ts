import { condition, proxyActivities } from '@temporalio/workflow';
import type { TransactionChainActivities, TransactionFollowed } from '../activities/transactionChain';
import type { TransactionSignerActivities } from '../activities/transactionSigner';
import type { ExecutionResult, TransactionRef } from '../activities/transactions';
import { first } from './first';
import { createPatience } from './patience';

/** The first pause between two looks, in milliseconds. */
const FIRST_PAUSE_MS = 500;
/** An attempt whose envelopes revert whole so often is given up: its bytes do not do what they should. */
const MAX_WHOLE_REVERTS = 3;

/** Where an execution works, and how it is told and tells. */
export interface ExecutionContext {
  readonly networkId: number;
  readonly queues: { readonly chain: string; readonly signer: string };
  /** Tells what it waits for (null: for nothing any more). */
  readonly report: (waitingFor: string | null) => Promise<void>;
  /** True once an operator wants what is on its way to come to nothing. */
  readonly isGivenUp: () => boolean;
}

/** The activities of a transaction's execution, and what an operator reads about each. */
function executionActivities({ transactionId }: TransactionRef, { networkId, queues }: ExecutionContext) {
  const summary = `${transactionId} on network ${networkId}`;
  const { prepareTransaction } = proxyActivities<TransactionChainActivities>({
    taskQueue: queues.chain,
    startToCloseTimeout: '30s',
    // It only reads; what goes wrong here is the database or a worker, which come back.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Look for ${summary}, and simulate it`,
  });
  const { followTransaction } = proxyActivities<TransactionChainActivities>({
    taskQueue: queues.chain,
    startToCloseTimeout: '30m',
    heartbeatTimeout: '15s',
    // The same stored bytes are sent again; the chain takes a nonce once.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Send and follow ${summary}`,
  });
  const { signTransaction, signCancellation, fillNonce } = proxyActivities<TransactionSignerActivities>({
    taskQueue: queues.signer,
    startToCloseTimeout: '30s',
    // A second call answers the envelope of the first; a refusal is an answer and is not retried.
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary: `Verify all evidence and sign ${summary}`,
  });
  return { prepareTransaction, followTransaction, signTransaction, signCancellation, fillNonce };
}

/**
 * Carries a transaction to its chain, whatever state it is found in: not begun, on its way, or there. It ends when the
 * chain has decided, or when nothing has been signed and nothing can be. While something signed could still reach the
 * chain it does not end.
 */
export async function executeOnChain(
  ref: TransactionRef,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  const { networkId, isGivenUp } = context;
  const { prepareTransaction, followTransaction, signTransaction, signCancellation, fillNonce } =
    executionActivities(ref, context);
  let wholeReverts = 0;

  const givingUp = () => isGivenUp() || wholeReverts >= MAX_WHOLE_REVERTS;

  const { tell, told, pause, outwait, moved } = createPatience({
    networkId,
    firstPauseMs: FIRST_PAUSE_MS,
    report: context.report,
  });
  const unreachable = (message: string): ExecutionResult => ({
    status: 'failed',
    failure: { code: 'rpc', message },
  });

  /** Follows an envelope until something is to be done. Undefined: it is to be given up instead. */
  async function follow(envelopeId: string): Promise<TransactionFollowed | undefined> {
    for (;;) {
      const wasGivenUp = givingUp();
      const followed = await first([
        () => followTransaction({ ...ref, envelopeId, networkId, told: told() }),
        () => condition(() => givingUp() !== wasGivenUp).then(() => undefined),
      ]);
      if (followed?.kind !== 'waiting') return followed;
      await tell(followed.message);
    }
  }

  for (;;) {
    const seen = await prepareTransaction({ ...ref, networkId, givingUp: givingUp() });
    let envelopeId: string;
    switch (seen.kind) {
      case 'decided':
        return { status: 'decided', outcome: seen.outcome };
      case 'failed':
        return {
          status: 'failed',
          failure: seen.failure,
          ...(seen.awaitsRelayerWei === undefined ? {} : { awaitsRelayerWei: seen.awaitsRelayerWei }),
        };
      case 'confirming':
        await tell(seen.message);
        await pause(`Confirmations on network ${networkId}`);
        continue;
      case 'unreachable': {
        if (!(await outwait(seen.message))) return unreachable(seen.message);
        continue;
      }
      case 'needsEnvelope': {
        const sign = seen.cancels ? signCancellation : signTransaction;
        const signed = await sign({ ...ref, terms: seen.terms });
        if ('refused' in signed) {
          const { code } = signed.refused;
          // What is on its way already stays so, whatever keeps the signer from carrying it on.
          if (!seen.attempted) {
            const blocked = code === 'policy' || code === 'budget' || code === 'stale';
            return { status: blocked ? 'blocked' : 'failed', failure: signed.refused };
          }
          await tell(`the signer does not carry it on: ${signed.refused.message}`);
          await pause('Ask the signer again');
          continue;
        }
        if ('unreachable' in signed) {
          if (seen.attempted) {
            await tell(signed.unreachable);
            await pause('Ask the signer again');
            continue;
          }
          if (!(await outwait(signed.unreachable))) return unreachable(signed.unreachable);
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
    const followed = await follow(envelopeId);
    switch (followed?.kind) {
      case 'decided':
        return { status: 'decided', outcome: followed.outcome };
      case 'reverted':
        wholeReverts += 1;
        break;
      case 'stuck': {
        // Whatever keeps the signer from raising the fee, the bytes that are out may still land.
        const sign = followed.cancels ? signCancellation : signTransaction;
        const raised = await sign({ ...ref, terms: followed.terms });
        if (!('envelopeId' in raised)) await pause(`Raise the fee on network ${networkId} later`);
        break;
      }
      case 'gap': {
        const filled = await fillNonce({ networkId, nonce: followed.nonce, terms: followed.terms });
        if (!('envelopeId' in filled)) await pause(`Fill nonce ${followed.nonce} later`);
        break;
      }
      default:
        // The nonce of its envelope was used by another, or it is given up: it is looked for again.
        break;
    }
    await tell(null);
  }
}
