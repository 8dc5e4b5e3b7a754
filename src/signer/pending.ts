import { max } from '../domain/bigint';
import type { Usage, UsageWindow } from '../domain/policyEngine';
import type { AuthorizationEntry } from './journal/entries';
import type { Journal } from './journal/journal';
import { isOfWindow } from './journal/journalIndex';

/**
 * The authorizations that are being committed, and that the journal does not have yet: whatever the database says of them,
 * they count. One is here from before its commit until its line is in the journal, or until nothing of it is signed any more.
 */
export class PendingAuthorizations {
  private readonly entries = new Set<AuthorizationEntry>();

  constructor(private readonly journal: Pick<Journal, 'authorizationOf'>) {}

  add(entry: AuthorizationEntry): void {
    this.entries.add(entry);
  }

  forget(entry: AuthorizationEntry): void {
    this.entries.delete(entry);
  }

  has(transactionId: string): boolean {
    return this.all().some((entry) => entry.transactionId === transactionId);
  }

  /** Those that the journal does not have yet. */
  all(): AuthorizationEntry[] {
    return [...this.entries].filter(({ transactionId }) => !this.journal.authorizationOf(transactionId));
  }

  /** What is pending in a window, without one transaction. */
  usageIn(window: UsageWindow, except?: string): Pick<Usage, 'amount' | 'executions'> {
    const counted = this.all().filter(
      (entry) =>
        entry.policyId === window.policyId && entry.transactionId !== except && isOfWindow(window, entry),
    );
    const amount = counted.reduce((sum, entry) => sum + BigInt(entry.amount), 0n);
    return { amount, executions: counted.length };
  }

  /** The highest nonce of an account that is pending; -1 where none is. */
  highestNonce({ accountId, networkId }: Pick<AuthorizationEntry, 'accountId' | 'networkId'>): bigint {
    const nonces = this.all()
      .filter((entry) => entry.accountId === accountId && entry.networkId === networkId)
      .map(({ safeNonce }) => BigInt(safeNonce));
    return nonces.reduce(max, -1n);
  }
}
