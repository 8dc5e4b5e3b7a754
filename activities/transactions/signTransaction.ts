import type { Address, Hex } from 'viem';
import { checksumAddress } from '../../src/chain/address';
import type { SafeTransaction } from '../../src/chain/safeTransaction';
import { type Attempt, attemptsOfTransaction, highestSafeNonce } from '../../src/db/attempts';
import {
  decideAuthorization,
  insertAuthorization,
  undecidedAuthorizations,
} from '../../src/db/authorizations';
import type { Tx } from '../../src/db/database';
import type { StoredTransaction } from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { usageOf } from '../../src/transactions/policy';
import { mapLimit } from '../mapLimit';
import { assertAccount } from '../signer/account';
import { networkOf, type SignerContext, withRelayer } from '../signer/context';
import { refusalsAsValues, SignerRefusal, type SigningResult } from '../signer/refusal';
import { decide } from './confirmOutcome';
import type { TransactionTerms } from './observation';
import { carryNew, carryOn, signAttempt } from './signedAttempts';
import { assertTransactionEvidence, verifiedVotes } from './signerEvidence';
import { readOnNetwork, statusOf } from './signerRecord';

/** The next nonce of an account by the records. Throws SignerRefusal when the nonce on chain is higher. */
async function nextSafeNonce(
  context: SignerContext,
  tx: Tx,
  { accountId, networkId }: StoredTransaction,
  { accountNonce }: TransactionTerms,
): Promise<bigint> {
  const highest = await highestSafeNonce(tx, { accountId, networkId });
  const next = highest === undefined ? 0n : highest + 1n;
  if (BigInt(accountNonce) > next) {
    throw new SignerRefusal(
      'stale',
      `account ${accountId} has the nonce ${accountNonce} on ${networkOf(context, networkId).name}, but the recorded ones end before ${next}: its key has signed something else; run doctor`,
    );
  }
  return next;
}

/** What was signed for a transaction: its cancellation, if there is one. */
function signedAttempt(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ kind }) => kind === 'cancellation') ?? attempts[0];
}

/** How many authorizations are looked up when a budget is used up, and how many of them at once. */
const LOOKED_UP = 100;
const LOOKED_UP_AT_ONCE = 8;

/**
 * Looks up what became of the undecided authorizations of a policy: until the signer has read it, they count in every
 * window. True when one of them was decided.
 */
async function decideUndecided(context: SignerContext, policyId: string): Promise<boolean> {
  const undecided = await undecidedAuthorizations(context.db, { policyId, limit: LOOKED_UP });
  let decided = false;
  await mapLimit(LOOKED_UP_AT_ONCE, undecided, async (ref) => {
    decided = (await decide(context, ref)) !== null || decided;
  });
  return decided;
}

/** One attempt to sign, in one database transaction. Throws SignerRefusal. */
async function signOnce(
  context: SignerContext,
  { terms, ...ref }: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  const { networkId } = await statusOf(context.db, ref);
  const votes = await verifiedVotes(context, ref);
  return withRelayer(context, networkId, async (tx) => {
    const snapshot = await readOnNetwork(tx, ref, networkId);
    const { record } = snapshot;
    const account = (await assertAccount(context, tx, record)).address as Address;
    const signed = signedAttempt(await attemptsOfTransaction(tx, record.id));
    if (signed) {
      // The chain may have lost the block in which it was decided.
      await decideAuthorization(tx, record.id, null);
      return carryOn(context, tx, { attempt: signed, account }, terms);
    }
    await assertTransactionEvidence(context, tx, snapshot, votes);
    const content: SafeTransaction = {
      networkId,
      account,
      to: checksumAddress(record.to),
      value: record.value,
      data: record.calldata.toLowerCase() as Hex,
      safeTxGas: BigInt(terms.safeTxGas),
      nonce: await nextSafeNonce(context, tx, record, terms),
    };
    if (content.safeTxGas <= 0n) throw new SignerRefusal('stale', 'safeTxGas must be above 0');
    const fromBlock = BigInt(terms.fromBlock);
    const attempt = await signAttempt(context, tx, record, { kind: 'transaction', content, fromBlock });
    const { safeNonce, safeTxHash } = attempt;
    await insertAuthorization(tx, { ...usageOf(record), safeNonce, safeTxHash });
    failpoint('signer.attemptStored');
    // The row of the attempt locks its transaction, so that the execution cannot end concurrently.
    if ((await statusOf(tx, ref)).executionStatus !== 'processing') {
      throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
    }
    return carryNew(context, tx, { attempt, account }, terms);
  });
}

/**
 * Signs a transaction of an account and its envelope, in one database transaction; or, where it was
 * signed before, only the envelope. Trusts nothing: before the first signature the payload is rebuilt from the record, and
 * every signature, entitlement, policy and expiry verified again, and the budget by what the signer itself has authorized.
 * A transaction is signed once, at one Safe nonce: whatever the records or the chain say became of it, it only gets
 * another envelope with the same bytes.
 */
export async function signTransaction(
  context: SignerContext,
  input: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  return refusalsAsValues(async () => {
    for (;;) {
      try {
        return await signOnce(context, input);
      } catch (error) {
        if (!(error instanceof SignerRefusal) || error.code !== 'budget') throw error;
        const { policyId } = await statusOf(context.db, input);
        if (!(await decideUndecided(context, policyId))) throw error;
      }
    }
  });
}
