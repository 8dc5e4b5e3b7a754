import { assertChainId, type ChainClient } from '../../src/chain/clients';
import { moveOutcome } from '../../src/db/attemptOutcomes';
import type { Attempt } from '../../src/db/attempts';
import { reopenTransaction } from '../../src/db/transactionReopening';
import type { TransactionRef } from '../../src/domain/transaction';
import { findAtNonce, headOf, readAtNonce } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import { findLostAttempts } from './lostBlocks';
import { isUnknown, outcomeOf } from './outcome';

/** The repair of one lost attempt: in another block, that block is recorded; else its transaction is reopened. */
async function resolveLost(
  context: TransactionChainContext,
  chain: ChainClient,
  attempt: Attempt,
): Promise<TransactionRef | undefined> {
  const { db } = context;
  const { organizationId, transactionId } = attempt;
  const ref = { organizationId, transactionId };
  const at = await readAtNonce(db, attempt, attempt.safeNonce);
  const execution = await findAtNonce(chain, at, await headOf(chain));
  const outcome = execution && (await outcomeOf(context, chain, at, execution));
  // What nobody here has authorized is decided by the signer each time.
  if (execution && outcome?.kind === attempt.outcome && !isUnknown(at, execution)) {
    await moveOutcome(db, attempt, outcome);
    return undefined;
  }
  // Meanwhile another search may have reopened it, and another block decided it.
  return (await reopenTransaction(db, ref, attempt.blockHash)) ? ref : undefined;
}

/**
 * Finds decided transactions whose blocks a network has lost (a reorganization, a node restored from an older state). One
 * in another block is recorded there; one in no block, or with another outcome, is executed again with the bytes that
 * were signed: those are returned, because their workflows have to run. Throws ChainUnavailable.
 */
export async function findLostTransactions(
  context: TransactionChainContext,
  { networkId }: { networkId: number },
): Promise<readonly TransactionRef[]> {
  const chain = context.chains.get(networkId);
  if (!chain) return [];
  await assertChainId(chain);
  const reopened: TransactionRef[] = [];
  for (const attempt of await findLostAttempts(context.db, chain, context.lastSearches)) {
    const found = attempt.kind === 'transaction' && (await resolveLost(context, chain, attempt));
    if (found) reopened.push(found);
  }
  return reopened;
}
