import type { Schema, Transaction } from '@orgwallet/client';
import { isSameAddress } from './address.ts';

/** What the organization knows of an address. */
export interface Recipient {
  /** Who has it here: `member “Alice”`. */
  readonly owner: string | undefined;
  /** The policies that name it. */
  readonly policies: readonly string[];
  /** Completed transactions to it, among those that were looked through. */
  readonly earlier: number;
  readonly lookedThrough: number;
}

const targetOf = (transaction: Transaction) =>
  transaction.type === 'TOKEN_TRANSFER' ? transaction.data.destination : transaction.data.toAddress;

function namedAddresses(policy: Schema['Policy']): readonly string[] {
  if (policy.transactionType === 'TOKEN_TRANSFER') return policy.tokenTransferCondition.destinationAddresses;
  if (policy.transactionType === 'ANY') return [];
  return (policy.contractInteractionCondition ?? []).map(({ contractAddress }) => contractAddress);
}

/** Looks for an address among members, accounts, policies and earlier transactions. */
export function recipientOf(
  address: string,
  now: {
    readonly members: readonly Schema['Member'][];
    readonly accounts: readonly Schema['Account'][];
    readonly policies: readonly Schema['Policy'][];
  },
  transactions: readonly Transaction[],
): Recipient {
  const member = now.members.find(({ walletAddress }) => isSameAddress(walletAddress, address));
  const account = now.accounts.find((one) => isSameAddress(one.address, address));
  return {
    owner: account ? `account “${account.name}”` : member ? `member “${member.name}”` : undefined,
    policies: now.policies
      .filter((policy) => namedAddresses(policy).some((one) => isSameAddress(one, address)))
      .map(({ name }) => name),
    earlier: transactions.filter(
      (one) => one.executionStatus === 'completed' && isSameAddress(targetOf(one), address),
    ).length,
    lookedThrough: transactions.length,
  };
}
