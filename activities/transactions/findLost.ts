import { assertChainId, type ChainClient, networkLabel, transactionCount } from '../../src/chain/clients';
import { accountNonce } from '../../src/chain/safe';
import { cancellation, executionGas } from '../../src/chain/safeTransaction';
import { moveOutcome } from '../../src/db/attemptOutcomes';
import { type Attempt, envelopesOf } from '../../src/db/attempts';
import { reopenTransaction } from '../../src/db/transactionReopening';
import type { TransactionRef } from '../../src/domain/transaction';
import { relayerAddress } from '../relayer/context';
import { sendInOrder } from '../relayer/sendInOrder';
import { currentFees, envelopeTerms, replacementTerms } from '../relayer/terms';
import { attemptsOf, findAtNonce, headOf, readAtNonce, recordOf } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import { findLostAttempts } from './lostBlocks';
import { carryingTerms, type TransactionTerms } from './observation';
import type { AtNonce } from './outcome';
import { outcomeOf } from './outcome';

/** An attempt whose nonce an empty call has to use before its own bytes do. */
export interface AttemptToCancel extends TransactionRef {
  readonly attemptId: string;
  readonly networkId: number;
  readonly terms: TransactionTerms;
}

/** The decided transactions whose blocks a network has lost, and the repairs. */
export interface LostTransactions {
  /** Transactions that are executed again: their workflows have to run. */
  readonly reopened: readonly TransactionRef[];
  /** Attempts of transactions that have continued since. */
  readonly toCancel: readonly AttemptToCancel[];
  /** Outcomes on chain that contradict a closed record: one message for operators each. */
  readonly contradictions: readonly string[];
}

type Finding =
  | { readonly reopened: TransactionRef }
  | { readonly toCancel: AttemptToCancel }
  | { readonly contradiction: string }
  | undefined;

/**
 * Terms of the empty call that uses a lost attempt's nonce, as a replacement of the attempt's envelope where that is
 * possible. Undefined while such a call is in flight; it is sent again.
 */
async function termsToCancel(
  context: TransactionChainContext,
  chain: ChainClient,
  at: AtNonce,
): Promise<TransactionTerms | undefined> {
  const { networkId, safeNonce, fromBlock } = at.transaction;
  const envelopes = await envelopesOf(context.db, attemptsOf(at));
  const last = envelopes.at(-1);
  if (last && last.attemptId === at.cancellation?.id && last.outcome === null) {
    await sendInOrder(context, chain, last);
    return undefined;
  }
  const content = cancellation({ networkId, account: at.account, nonce: safeNonce });
  const gas = executionGas(content);
  const nextNonce = (await accountNonce(chain, at.account)) ?? 0n;
  const relayer = last?.relayerAddress ?? (await relayerAddress(context.db, networkId));
  const chainNonce = await transactionCount(chain, relayer);
  const replacing = last && last.relayerNonce >= chainNonce ? await replacementTerms(chain, last, gas) : null;
  const terms = replacing ?? envelopeTerms(await currentFees(chain), gas, chainNonce);
  return carryingTerms(terms, content, fromBlock, nextNonce);
}

/** The repair of one lost attempt. If it is in another block, that block is recorded. */
async function resolveLost(
  context: TransactionChainContext,
  chain: ChainClient,
  attempt: Attempt,
): Promise<Finding> {
  const { db } = context;
  const { organizationId, transactionId, networkId } = attempt;
  const ref = { organizationId, transactionId };
  const attemptId = String(attempt.id);
  const at = await readAtNonce(db, await recordOf(db, ref), attempt.safeNonce);
  const execution = await findAtNonce(chain, at, await envelopesOf(db, attemptsOf(at)), await headOf(chain));
  const outcome = execution && (await outcomeOf(db, chain, at, execution));
  if (outcome?.kind === attempt.outcome) {
    await moveOutcome(db, attempt, outcome);
    return undefined;
  }
  if (await reopenTransaction(db, { ...ref, attemptId })) return { reopened: ref };
  if (!outcome) {
    const terms = await termsToCancel(context, chain, at);
    return terms && { toCancel: { ...ref, attemptId, networkId, terms } };
  }
  await moveOutcome(db, attempt, outcome);
  if (outcome.kind !== 'executed') return undefined;
  return {
    contradiction: `transaction ${transactionId} has continued since its attempt ${attemptId} was dropped, and now that attempt is executed on ${networkLabel(chain)} (${outcome.transactionHash}): check the account`,
  };
}

/**
 * Finds decided transactions whose blocks a network has lost (a reorganization, a node restored from an older state). One
 * in another block is recorded there; one in no block, or with another outcome, is executed again. Throws
 * ChainUnavailable.
 */
export async function findLostTransactions(
  context: TransactionChainContext,
  { networkId }: { networkId: number },
): Promise<LostTransactions> {
  const chain = context.chains.get(networkId);
  if (!chain) return { reopened: [], toCancel: [], contradictions: [] };
  await assertChainId(chain);
  const findings: Finding[] = [];
  for (const attempt of await findLostAttempts(context.db, chain, context.lastHeads)) {
    if (attempt.kind === 'transaction') findings.push(await resolveLost(context, chain, attempt));
  }
  return {
    reopened: findings.flatMap((one) => (one && 'reopened' in one ? [one.reopened] : [])),
    toCancel: findings.flatMap((one) => (one && 'toCancel' in one ? [one.toCancel] : [])),
    contradictions: findings.flatMap((one) => (one && 'contradiction' in one ? [one.contradiction] : [])),
  };
}
