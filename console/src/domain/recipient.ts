import type { Schema, Transaction } from '@orgwallet/client';
import { isSameAddress } from './address.ts';

/** What the organization knows of an address. */
export interface Recipient {
  /** Who has it here: `member “Alice”`. */
  readonly owner: string | undefined;
  /** The policies that name it. */
  readonly policies: readonly string[];
  /** Completed transactions to it. */
  readonly earlier: number;
  /** There may be more of them. */
  readonly hasMore: boolean;
}

function namedAddresses(policy: Schema['Policy']): readonly string[] {
  if (policy.transactionType === 'TOKEN_TRANSFER') return policy.tokenTransferCondition.destinationAddresses;
  if (policy.transactionType === 'ANY') return [];
  return (policy.contractInteractionCondition ?? []).map(({ contractAddress }) => contractAddress);
}

/**
 * Looks for an address among members, accounts and policies. `history`: the last earlier transactions to it that were executed or
 * rejected.
 */
export function recipientOf(
  address: string,
  now: {
    readonly members: readonly Schema['Member'][];
    readonly accounts: readonly Schema['Account'][];
    readonly policies: readonly Schema['Policy'][];
  },
  history: { readonly transactions: readonly Transaction[]; readonly hasMore: boolean },
): Recipient {
  const member = now.members.find(({ walletAddress }) => isSameAddress(walletAddress, address));
  const account = now.accounts.find((one) => isSameAddress(one.address, address));
  return {
    owner: account ? `account “${account.name}”` : member ? `member “${member.name}”` : undefined,
    policies: now.policies
      .filter((policy) => namedAddresses(policy).some((one) => isSameAddress(one, address)))
      .map(({ name }) => name),
    earlier: history.transactions.filter(({ executionStatus }) => executionStatus === 'completed').length,
    hasMore: history.hasMore,
  };
}
