import type { Db, Tx } from '../../src/db/database';
import { findTransactionStatus, readTransaction, type TransactionSnapshot } from '../../src/db/transactions';
import type { TransactionRef } from '../../src/domain/transaction';
import { SignerRefusal } from '../signer/refusal';

/** The network, policy and execution status of a transaction. Throws SignerRefusal when it does not exist. */
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
