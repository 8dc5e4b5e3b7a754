import type { Tx } from '../db/database';
import type { StoredApproval } from '../db/storedApprovals';
import { updateExecution } from '../db/transactions';
import type { ApprovalRef } from '../domain/approvalRef';
import { type ApprovalState, tally } from '../domain/approvalState';
import type { JsonValue } from '../domain/canonicalJson';
import type { AnySnapshot, ApprovalSubject } from './approvalSubject';
import { proposalSubject } from './proposalSubject';
import { transactionSubject } from './transactionSubject';

/** An approval of either subject under its lock, with what closing it depends on. */
export interface LockedApproval {
  readonly record: StoredApproval;
  readonly time: Date;
  readonly tally: ReturnType<typeof tally>;
  /** Part of it is done and cannot be undone. */
  readonly isPartlyDone: boolean;
  /** What every audit entry says about it. */
  readonly about: { readonly [key: string]: JsonValue };
  /** Clears what its execution waits for. */
  clear(): Promise<unknown>;
}

async function lockOf<V extends AnySnapshot, S extends ApprovalState>(
  tx: Tx,
  ref: ApprovalRef,
  { rules, lock, about }: ApprovalSubject<V, S>,
  clear: (record: V['record']) => Promise<unknown>,
): Promise<LockedApproval | undefined> {
  const locked = await lock(tx, ref);
  if (!locked) return undefined;
  const { record, now } = locked;
  return {
    record,
    time: now.time,
    tally: tally(rules, record, now),
    isPartlyDone: rules.isPartlyDone(record),
    about: about(record),
    clear: () => clear(record),
  };
}

/** Locks an approval of either subject. Undefined when it does not exist. */
export function lockAnyApproval(tx: Tx, ref: ApprovalRef): Promise<LockedApproval | undefined> {
  return ref.subject === 'proposal'
    ? lockOf(tx, ref, proposalSubject, async () => undefined)
    : lockOf(tx, ref, transactionSubject, (record) =>
        updateExecution(tx, record, { awaitsRelayerWei: null }),
      );
}
