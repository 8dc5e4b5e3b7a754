import type { Address } from 'viem';
import { checksumAddress } from '../chain/address';
import { isRestricted } from '../chain/functions';
import { nestedCallsOf } from '../chain/nestedCalls';
import type { NetworkConfig } from '../config';
import type { Db, Tx } from '../db/database';
import { readUsage, type UsageOfExecution } from '../db/policyUsage';
import type { StoredTransaction } from '../db/storedTransactions';
import { NATIVE_CURRENCY } from '../domain/policy';
import {
  type Evaluation,
  evaluate,
  type PolicyTransaction,
  policyFailureText,
  type Usage,
  type UsageWindow,
  usageWindow,
} from '../domain/policyEngine';
import type { EvaluationContext } from '../domain/transaction';
import { readContent, spendingOf, type TransactionContent } from '../domain/transactionContent';

/** The call that a transaction makes. */
type StoredCall = Pick<StoredTransaction, 'id' | 'to' | 'value' | 'calldata'>;

/** The content of a recorded transaction. Throws for an inconsistent record. */
export function contentOf({ id, to, value, calldata }: StoredCall): TransactionContent {
  const content = readContent({ to, value, data: calldata }, checksumAddress);
  if (!content.ok)
    throw new Error(`transaction ${id} is recorded inconsistently: ${content.refusal.message}`);
  return content.value;
}

/** The ERC-20 token that a transaction moves; null when it moves none. */
export function tokenOf(record: StoredCall): Address | null {
  const content = contentOf(record);
  if (content.type !== 'TOKEN_TRANSFER' || content.tokenAddress === NATIVE_CURRENCY) return null;
  return content.tokenAddress as Address;
}

/** A recorded transaction, as policies see it. */
export function policyTransactionOf(record: StoredTransaction): PolicyTransaction {
  return {
    networkId: record.networkId,
    accountId: record.accountId,
    initiatorId: record.initiator.id,
    content: contentOf(record),
    nested: nestedCallsOf({ to: record.to, value: record.value, data: record.calldata }),
  };
}

/** What of a transaction takes something from a budget. */
export type RecordedSpending = StoredCall &
  Pick<StoredTransaction, 'organizationId' | 'policyId' | 'networkId' | 'initiator' | 'accountId'>;

/** What an execution takes from its policy's budget. */
export function usageOf(record: RecordedSpending): UsageOfExecution {
  const { recipient, token, amount } = spendingOf(contentOf(record));
  return {
    organizationId: record.organizationId,
    policyId: record.policyId,
    transactionId: record.id,
    networkId: record.networkId,
    tokenAddress: token,
    amount,
    initiatorId: record.initiator.id,
    accountId: record.accountId,
    destination: recipient,
  };
}

/** As whom a budget is read, and when; with the networks that are configured. */
type BudgetOptions = Parameters<typeof readUsage>[2] & {
  readonly networks: readonly NetworkConfig[];
  /** The budget is not read: the statement that reserves it requires its room. */
  readonly roomRequired?: boolean;
  /** Called with what is read of a budget; may throw. */
  readonly verify?: (window: UsageWindow, usage: Usage) => void;
};

/** A recorded transaction by its policy; without `usage` its budget is not checked. Whether the policy was removed, it does not say. */
export function evaluated(
  { record, now }: { readonly record: StoredTransaction; readonly now: EvaluationContext },
  { networks, usage }: { readonly networks: readonly NetworkConfig[]; readonly usage: Usage | null },
): Evaluation {
  return evaluate(now.policy, policyTransactionOf(record), {
    account: { id: record.accountId, networkIds: record.accountNetworkIds },
    members: now.members,
    groups: now.groups,
    isRestricted,
    nativeAsset: networks.find(({ id }) => id === record.networkId)?.nativeAsset ?? null,
    // A faulty token shows when its call is simulated.
    tokenFault: null,
    usage,
  });
}

/** Why a transaction's policy does not permit it now, its budget included; null where it does. */
export async function policyRefusal(
  db: Db | Tx,
  { record, now }: { record: StoredTransaction; now: EvaluationContext },
  { networks, roomRequired = false, verify, ...options }: BudgetOptions,
): Promise<{ code: 'policy' | 'budget'; message: string } | null> {
  if (now.policyRemoved) {
    return { code: 'policy', message: `policy ${record.policyId} has been removed` };
  }
  const window = roomRequired ? null : usageWindow(now.policy, policyTransactionOf(record));
  const [usage = null] = window ? await readUsage(db, [window], options) : [];
  if (window && !usage) return { code: 'budget', message: 'the usage of its budget cannot be read' };
  if (window && usage) verify?.(window, usage);
  const { allowed, failures } = evaluated({ record, now }, { networks, usage });
  if (allowed) return null;
  return {
    code: failures.every(({ condition }) => condition === 'budget') ? 'budget' : 'policy',
    message: `not permitted by policy now: ${policyFailureText(failures)}`,
  };
}
