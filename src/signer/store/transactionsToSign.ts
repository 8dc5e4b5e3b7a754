import type { Db, Tx } from '../../db/database';
import { type UsageOfExecution, usageIn } from '../../db/policyUsage';
import { takenNoncesSql } from '../../db/reservations';
import { queryNumbered } from '../../db/rows';
import type { StoredState } from '../../db/seals';
import {
  ATTEMPTED,
  oneTransaction,
  type RecordColumns,
  UNDECIDED,
  type UnsealedTransaction,
  unsealed,
} from '../../db/storedTransactions';
import type { PolicyUsageRow } from '../../db/tables';
import type { JournaledRecord } from '../../domain/journaledRecord';
import type { TransactionRef } from '../../domain/transaction';
import { type JournaledColumn, journaledColumn, journaledIn } from './journaledRecords';
import { type SealedColumn, sealedColumn, sealedIn } from './nextSeal';

/** A transaction, and what is sealed of its organization. */
export interface WithSealed {
  /** Null before the genesis is admitted. */
  readonly sealed: StoredState | null;
}

const UNDER_SEAL = oneTransaction(sealedColumn('$1'));

/** What the signer reads of one transaction, with what is sealed of its organization, in one statement; or undefined. */
export async function readTransactionWithSealed(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionRef,
): Promise<(UnsealedTransaction & WithSealed) | undefined> {
  const values = [organizationId, transactionId];
  const [row] = await queryNumbered<RecordColumns & SealedColumn>(db, UNDER_SEAL, values);
  return row && { ...unsealed(row), sealed: sealedIn(organizationId, row) };
}

const FOR_SIGNING = oneTransaction(
  ATTEMPTED,
  `greatest(
      (SELECT max(c.safe_nonce) FROM chain_attempts c WHERE c.account_id = t.account_id AND c.network_id = t.network_id),
      (SELECT max(u.safe_nonce) FROM unknown_executions u
        WHERE u.account_id = t.account_id AND u.network_id = t.network_id)) AS highest_safe_nonce`,
  `${UNDECIDED} AS follows_undecided`,
  `(SELECT to_jsonb(u) || jsonb_build_object('amount', u.amount::text) FROM policy_usage u
      WHERE u.transaction_id = t.id AND u.status = 'reserved') AS reserved`,
  `ARRAY(${takenNoncesSql({ networkId: 't.network_id', relayerAddress: '$3', from: '$4' })}) AS taken_nonces`,
  sealedColumn('$1'),
  journaledColumn('$2'),
);

/** What decides whether, and at which nonces, a transaction is signed for the first time. */
export interface FirstSigningConditions {
  /** Something of it was stored to be signed. */
  readonly attempted: boolean;
  /** The highest nonce of its account that was signed, or used by an unknown execution. */
  readonly highestSafeNonce: bigint | undefined;
  /** Something else of its account is signed, or is being signed, and not decided. */
  readonly followsUndecided: boolean;
  /** The budget that is reserved for it. */
  readonly reserved: UsageOfExecution | undefined;
  /** Nonces of the relayer, from the given one on, that are taken. */
  readonly takenNonces: ReadonlySet<number>;
  /** The same record, as the journal keeps it. */
  readonly journaled: JournaledRecord | undefined;
}

/**
 * One transaction with what decides about its first signature, and what is sealed of its organization, in one statement;
 * undefined when it does not exist. `relayer`: the one that pays, and from which nonce on. Call it after `lockForSigning`.
 */
export async function readTransactionForSigning(
  tx: Tx,
  { organizationId, transactionId }: TransactionRef,
  relayer: { readonly address: string; readonly fromNonce: number },
): Promise<(UnsealedTransaction & FirstSigningConditions & WithSealed) | undefined> {
  const [row] = await queryNumbered<
    RecordColumns &
      SealedColumn &
      JournaledColumn & {
        readonly attempted: boolean;
        readonly highest_safe_nonce: bigint | null;
        readonly follows_undecided: boolean;
        readonly reserved: PolicyUsageRow | null;
        readonly taken_nonces: readonly string[];
      }
  >(tx, FOR_SIGNING, [organizationId, transactionId, relayer.address, relayer.fromNonce]);
  return (
    row && {
      ...unsealed(row),
      attempted: row.attempted,
      highestSafeNonce: row.highest_safe_nonce ?? undefined,
      followsUndecided: row.follows_undecided,
      reserved: row.reserved ? usageIn(row.reserved) : undefined,
      takenNonces: new Set(row.taken_nonces.map(Number)),
      sealed: sealedIn(organizationId, row),
      journaled: journaledIn(row),
    }
  );
}

const UNSEALED = oneTransaction();

/** What the signer reads of one transaction of an organization, in one statement; or undefined. */
export async function readUnsealedTransaction(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionRef,
): Promise<UnsealedTransaction | undefined> {
  const [row] = await queryNumbered<RecordColumns>(db, UNSEALED, [organizationId, transactionId]);
  return row && unsealed(row);
}

/** The network and policy of a transaction; undefined when it does not exist. */
export async function findNetworkAndPolicy(
  db: Db | Tx,
  { organizationId, transactionId }: TransactionRef,
): Promise<{ readonly networkId: number; readonly policyId: string } | undefined> {
  const row = await db('approvals')
    .join('transactions', 'transactions.id', 'approvals.id')
    .where('approvals.organization_id', organizationId)
    .where('approvals.id', transactionId)
    .first('transactions.network_id', 'transactions.policy_id');
  return row && { networkId: Number(row.network_id), policyId: row.policy_id };
}
