import type { MemberSummary } from '../domain/approval';
import type { EvaluationContext, TransactionRecord } from '../domain/transaction';
import { readDefinition } from './policyDefinition';
import { selected } from './rows';
import {
  type ApprovalColumns,
  approvalColumns,
  memberColumn,
  type StoredApproval,
  storedApproval,
  type TimeColumn,
  timeColumn,
} from './storedApprovals';
import type { PolicyRow, TransactionRow } from './tables';

/** A transaction as it is stored. */
export interface StoredTransaction extends TransactionRecord, StoredApproval {
  readonly accountName: string;
  /** Networks that the account is on. */
  readonly accountNetworkIds: readonly number[];
  readonly updatedAt: Date;
  readonly waitingFor: string | null;
  readonly votes: StoredApproval['votes'];
}

/** A transaction with the state that its rules depend on, read at one moment. */
export interface TransactionSnapshot {
  readonly record: StoredTransaction;
  readonly now: EvaluationContext;
}

/**
 * What the signer reads of a transaction: without members, groups and the account's networks, which it takes from the
 * sealed state, without the outcome on chain, which it reads from its own endpoints, and without what is not signed.
 */
export interface UnsealedTransaction {
  readonly record: Omit<StoredTransaction, 'accountNetworkIds' | 'chain' | 'references' | 'fees'>;
  readonly now: Omit<EvaluationContext, 'members' | 'groups'>;
}

export const FROM = `FROM approvals a
  JOIN transactions t ON t.id = a.id
  JOIN accounts account ON account.id = t.account_id
  JOIN members i ON i.id = t.initiator_id
  JOIN policies p ON p.id = t.policy_id`;

const OWN_COLUMNS = selected<TransactionRow>('t', {
  id: true,
  account_id: true,
  network_id: true,
  policy_id: true,
  initiator_id: true,
  description: true,
  type: true,
  to_address: true,
  value: true,
  calldata: true,
  content: true,
  replaces: true,
  awaits_relayer_wei: true,
  cancelling: true,
  reopenings: true,
});

/** What every statement reads of a transaction. */
export const RECORD = `${OWN_COLUMNS}, ${approvalColumns}, ${timeColumn},
    account.address AS account_address, account.name AS account_name, ${memberColumn('i')} AS initiator,
    p.definition AS policy_definition, p.removed_at IS NOT NULL AS policy_removed,
    (SELECT z.outcome FROM authorizations z WHERE z.transaction_id = t.id) AS signer_outcome`;

/** SQL: something was stored to be signed. */
export const ATTEMPTED = `EXISTS (SELECT FROM chain_attempts c WHERE c.transaction_id = t.id) AS attempted`;

/** SQL: something of the account is signed, or is being signed, and not decided. */
export const UNDECIDED = `EXISTS (SELECT FROM chain_attempts c WHERE c.account_id = t.account_id AND c.network_id = t.network_id
      AND c.outcome IS NULL AND c.safe_nonce IS NOT NULL)`;

/** SQL: reads the transaction `$2` of the organization `$1`, with what else is asked for. */
export const oneTransaction = (...beside: readonly string[]) =>
  `SELECT ${[RECORD, ...beside].join(', ')} ${FROM} WHERE a.organization_id = $1 AND a.id = $2`;

/** What every statement reads of a transaction. */
export type RecordColumns = TransactionRow &
  ApprovalColumns &
  TimeColumn & {
    readonly result: StoredTransaction['result'];
    readonly account_address: string;
    readonly account_name: string;
    readonly initiator: MemberSummary;
    readonly policy_definition: PolicyRow['definition'];
    readonly policy_removed: boolean;
    readonly signer_outcome: StoredTransaction['signerOutcome'];
  };

/** The record that was read, with what the signer takes from it. */
export function unsealed(row: RecordColumns): UnsealedTransaction {
  return {
    record: {
      ...storedApproval(row),
      accountId: row.account_id,
      accountAddress: row.account_address,
      accountName: row.account_name,
      networkId: Number(row.network_id),
      policyId: row.policy_id,
      initiator: row.initiator,
      description: row.description,
      type: row.type,
      to: row.to_address,
      value: BigInt(row.value),
      calldata: row.calldata,
      content: row.content,
      replaces: row.replaces,
      awaitsRelayerWei: row.awaits_relayer_wei === null ? null : BigInt(row.awaits_relayer_wei),
      cancelling: row.cancelling,
      signerOutcome: row.signer_outcome,
      reopenings: row.reopenings,
      result: row.result,
    },
    now: {
      time: row.read_at,
      policy: { ...readDefinition(row.policy_id, row.policy_definition), id: row.policy_id },
      policyRemoved: row.policy_removed,
    },
  };
}
