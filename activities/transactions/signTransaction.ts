import type { Address, Hex } from 'viem';
import { checksumAddress } from '../../src/chain/address';
import type { SafeTransaction } from '../../src/chain/safeTransaction';
import { type Attempt, attemptsOfTransaction, highestSafeNonce } from '../../src/db/attempts';
import type { Db, Tx } from '../../src/db/database';
import {
  findTransactionStatus,
  readTransaction,
  type StoredTransaction,
  type TransactionSnapshot,
} from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import { failpoint } from '../../src/failpoints';
import { assertAccount } from '../signer/account';
import { networkOf, type SignerContext, withRelayer } from '../signer/context';
import { refusalsAsValues, SignerRefusal, type SigningResult } from '../signer/refusal';
import type { TransactionTerms } from './observation';
import { carryNew, carryOn, signAttempt } from './signedAttempts';
import { assertTransactionEvidence, verifiedVotes } from './signerEvidence';

/** The network and execution status of a transaction. Throws SignerRefusal when it does not exist. */
export async function statusOf(handle: Db | Tx, ref: TransactionRef) {
  const found = await findTransactionStatus(handle, ref);
  if (!found) throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found`);
  return found;
}

/** Reads a transaction. Throws SignerRefusal unless it is on that network, whose relayer is locked. */
export async function readOnNetwork(
  tx: Tx,
  ref: TransactionRef,
  networkId: number,
): Promise<TransactionSnapshot> {
  const found = await readTransaction(tx, ref);
  if (found?.record.networkId !== networkId) {
    throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found on network ${networkId}`);
  }
  return found;
}

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

/**
 * Signs a transaction of an account and its envelope, in one database transaction; or, where it was
 * signed before, only the envelope. Trusts nothing: before the first signature the payload is rebuilt from the record, and
 * every signature, entitlement, policy, budget and expiry verified again. A transaction is signed once, at one Safe nonce:
 * whatever the records or the chain say became of it, it only gets another envelope with the same bytes.
 */
export async function signTransaction(
  context: SignerContext,
  input: TransactionRef & { terms: TransactionTerms },
): Promise<SigningResult> {
  const { terms } = input;
  return refusalsAsValues(async () => {
    const { networkId } = await statusOf(context.db, input);
    const votes = await verifiedVotes(context, input);
    return withRelayer(context, networkId, async (tx) => {
      const snapshot = await readOnNetwork(tx, input, networkId);
      const { record } = snapshot;
      const account = (await assertAccount(context, tx, record)).address as Address;
      const signed = signedAttempt(await attemptsOfTransaction(tx, record.id));
      if (signed) return carryOn(context, tx, { attempt: signed, account }, terms);
      await assertTransactionEvidence(tx, snapshot, votes);
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
      failpoint('signer.attemptStored');
      // The row of the attempt locks its transaction, so that the execution cannot end concurrently.
      if ((await statusOf(tx, input)).executionStatus !== 'processing') {
        throw new SignerRefusal('stale', `transaction ${record.id} is not being executed any more`);
      }
      return carryNew(context, tx, { attempt, account }, terms);
    });
  });
}
