import { findAtNonce, headOf, isUnknownExecution } from '../../src/chain/atNonce';
import { assertChainId, type ChainClient } from '../../src/chain/clients';
import { paidFee } from '../../src/chain/paidFee';
import { boundedFee } from '../../src/chain/receiptFee';
import { moveAttempt } from '../../src/db/attemptOutcomes';
import type { Attempt } from '../../src/db/attempts';
import type { Db, Tx } from '../../src/db/database';
import type { Envelope, EnvelopeFee } from '../../src/db/envelopes';
import { findLiveOther } from '../../src/db/referencedRecords';
import { recordFee } from '../../src/db/relayerFees';
import { moveUsage } from '../../src/db/reservedUsage';
import { readTransaction } from '../../src/db/transactions';
import type { AttemptOutcome, TransactionRef } from '../../src/domain/transaction';
import { policyRefusal } from '../../src/transactions/policy';
import { timeOfBlock } from '../relayer/heads';
import { readAtNonce } from './atNonce';
import type { TransactionChainContext } from './chainContext';
import { findLostAttempts } from './lostBlocks';
import { outcomeOf } from './outcome';
import { reopenTransaction } from './reopen';

/**
 * Why a transaction that had failed, and that its chain has undone, is cancelled instead of executed: another one has taken its
 * place, or it does not fit its policy and budget any more. Null where it is executed again.
 */
async function reasonToCancel({ network }: ChainClient, tx: Tx, ref: TransactionRef): Promise<string | null> {
  const other = await findLiveOther(tx, ref);
  if (other) return `${other.id} has taken its place`;
  const seen = await readTransaction(tx, ref);
  const refused = seen && (await policyRefusal(tx, seen, { networks: [network], except: ref.transactionId }));
  return refused?.message ?? null;
}

/** Records another block of the same outcome, with what it cost there: what was spent counts by its time. Nothing happens where another search has. */
async function moveOutcome(
  db: Db,
  attempt: Attempt,
  outcome: AttemptOutcome,
  paid: { readonly envelope: Envelope; readonly fee: EnvelopeFee } | undefined,
): Promise<void> {
  await db.transaction(async (tx) => {
    const moved = await moveAttempt(tx, attempt, outcome);
    if (moved && paid) await recordFee(tx, paid.envelope, paid.fee).statement;
    if (moved && outcome.kind === 'executed') {
      await moveUsage(tx, attempt.transactionId, new Date(outcome.blockTime));
    }
  });
}

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
  const blockAt = execution && (await timeOfBlock(context, chain, execution.blockHash));
  const envelope = execution && at.envelopes.find((one) => one.transactionHash === execution.transactionHash);
  const paid = execution && envelope ? await paidFee(chain, execution.receipt) : undefined;
  const outcome =
    execution && blockAt ? await outcomeOf(db, chain, at, execution, { blockAt, fee: paid }) : undefined;
  // What nobody here has authorized is decided by the signer each time.
  if (execution && blockAt && outcome?.kind === attempt.outcome && !isUnknownExecution(at, execution)) {
    const { blockNumber } = execution;
    const recorded =
      envelope && paid
        ? { envelope, fee: { ...boundedFee(paid, envelope), blockNumber, blockAt } }
        : undefined;
    await moveOutcome(db, attempt, outcome, recorded);
    return undefined;
  }
  // Meanwhile another search may have reopened it, and another block decided it.
  const cancels = (tx: Tx, lost: TransactionRef) => reasonToCancel(chain, tx, lost);
  const lost = { lostBlockHash: attempt.blockHash, cancels };
  return (await reopenTransaction(db, ref, lost)) ? ref : undefined;
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
