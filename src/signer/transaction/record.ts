import type { Db, Tx } from '../../db/database';
import { findSealedState } from '../../db/seals';
import type { TransactionSnapshot, UnsealedTransaction } from '../../db/storedTransactions';
import type { OrganizationState } from '../../domain/governance';
import type { TransactionRef } from '../../domain/transaction';
import { SignerRefusal } from '../refusal';
import type { SignerContext } from '../signerContext';
import {
  type FirstSigningConditions,
  findNetworkAndPolicy,
  readTransactionForSigning,
  readTransactionWithSealed,
  readUnsealedTransaction,
  type WithSealed,
} from '../store/transactionsToSign';
import { underSealedState } from './sealedTransaction';

/** The network and policy of a transaction. Throws SignerRefusal when it does not exist. */
export async function networkAndPolicyOf(handle: Db | Tx, ref: TransactionRef) {
  const found = await findNetworkAndPolicy(handle, ref);
  if (!found) throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found`);
  return found;
}

/** A record under the sealed state, at the signer's time. Throws SignerRefusal. */
function sealedSnapshot(
  found: UnsealedTransaction,
  state: OrganizationState,
  time: Date,
): TransactionSnapshot {
  const sealed = underSealedState(found, state, time);
  if (sealed) return sealed;
  throw new SignerRefusal('stale', `no sealed decision has account ${found.record.accountId}`);
}

/** A transaction under the sealed state. */
interface SealedTransaction extends TransactionSnapshot {
  readonly state: OrganizationState;
}

/** A sealed transaction with what decides about its first signature. */
export type SigningSnapshot = SealedTransaction & FirstSigningConditions;

type Reading = Pick<SignerContext, 'readSealedState' | 'clock'>;
type ReadingOptions = Pick<NonNullable<Parameters<SignerContext['readSealedState']>[2]>, 'lock'>;

/**
 * What was found of a transaction, under the sealed state. Throws SignerRefusal, also where the database gives another one than was
 * asked for; TemporaryRefusal when its clock is apart.
 */
function underSeal<Found extends UnsealedTransaction>(
  { clock }: Pick<Reading, 'clock'>,
  { organizationId, transactionId }: TransactionRef,
  found: Found,
  state: OrganizationState,
): Found & SealedTransaction {
  const { record } = found;
  if (record.id !== transactionId || record.organizationId !== organizationId) {
    throw new SignerRefusal('stale', `transaction ${transactionId} not found`);
  }
  clock.assertInStep(found.now.time);
  return { ...found, ...sealedSnapshot(found, state, clock.now()), state };
}

/** Reads a transaction with the sealed state in one statement. */
async function readBoth<Found extends UnsealedTransaction & WithSealed>(
  context: Reading,
  handle: Db | Tx,
  ref: TransactionRef,
  read: () => Promise<Found | undefined>,
): Promise<(Found & SealedTransaction) | undefined> {
  let found: Found | undefined;
  const { state } = await context.readSealedState(handle, ref.organizationId, {
    async read() {
      found = await read();
      return found ? found.sealed : findSealedState(handle, ref.organizationId);
    },
  });
  return found && underSeal(context, ref, found, state);
}

/**
 * Reads a transaction under the sealed state; undefined when it does not exist. Throws SignerRefusal, and TemporaryRefusal when
 * the clock of the database is apart.
 */
export async function readSealedTransaction(
  context: Reading,
  handle: Db | Tx,
  ref: TransactionRef,
  options: ReadingOptions = {},
): Promise<SealedTransaction | undefined> {
  if (options.lock === undefined) {
    return readBoth(context, handle, ref, () => readTransactionWithSealed(handle, ref));
  }
  // Read once the state is locked, in a statement of its own.
  const { state } = await context.readSealedState(handle, ref.organizationId, options);
  const found = await readUnsealedTransaction(handle, ref);
  return found && underSeal(context, ref, found, state);
}

/** The same. Throws SignerRefusal when it does not exist. */
export async function readSealed(
  ...[context, handle, ref, options]: Parameters<typeof readSealedTransaction>
): Promise<SealedTransaction> {
  const found = await readSealedTransaction(context, handle, ref, options);
  if (!found) throw new SignerRefusal('stale', `transaction ${ref.transactionId} not found`);
  return found;
}

function assertOnNetwork<S extends TransactionSnapshot>(
  found: S | undefined,
  { transactionId }: TransactionRef,
  networkId: number,
): asserts found is S {
  if (found?.record.networkId === networkId) return;
  throw new SignerRefusal('stale', `transaction ${transactionId} not found on network ${networkId}`);
}

/**
 * Reads a transaction; nothing is sealed before the database transaction ends. Throws SignerRefusal unless it is on that
 * network, which is locked.
 */
export async function readOnNetwork(
  context: Reading,
  tx: Tx,
  ref: TransactionRef,
  networkId: number,
): Promise<SealedTransaction> {
  const found = await readSealedTransaction(context, tx, ref, { lock: 'share' });
  assertOnNetwork(found, ref, networkId);
  return found;
}

/** The same, with what decides about its first signature. Call it after `lockForSigning`. */
export async function readForSigning(
  context: Reading,
  tx: Tx,
  ref: TransactionRef,
  { networkId, ...relayer }: { networkId: number; address: string; fromNonce: number },
): Promise<SigningSnapshot> {
  const found = await readBoth(context, tx, ref, () => readTransactionForSigning(tx, ref, relayer));
  assertOnNetwork(found, ref, networkId);
  return found;
}
