import type { Db, Tx } from '../db/database';
import type { MessageKey, MessageOrigin } from '../db/receivedMessages';
import type { StoredApproval } from '../db/storedApprovals';
import type { ApprovalContext, ApprovalRules, VoteType } from '../domain/approval';
import type { ApprovalState } from '../domain/approvalState';
import type { JsonValue } from '../domain/canonicalJson';

/** A record with the state that its rules depend on, read at one moment. */
interface Snapshot<R extends StoredApproval, N extends ApprovalContext> {
  readonly record: R;
  readonly now: N;
}

/** The snapshot of any subject. */
export type AnySnapshot = Snapshot<StoredApproval, ApprovalContext>;

/** What the votes about a subject are verified with. `V` is its snapshot. */
export interface SignedSubject<V extends AnySnapshot> {
  readonly rules: ApprovalRules<V['record'], V['now']>;
  /** What a vote of that type signs, EIP-712 typed data as JSON text; undefined before its initiator has signed. */
  payload(snapshot: V, type: VoteType): string | undefined;
  /** The types of the votes that prove a decision, apart from the decision's own. */
  readonly provedBy: readonly VoteType[];
}

/**
 * What differs between organization operations and transactions of accounts while they are open. `V` is a
 * subject's snapshot, `S` the state that its workflow keeps.
 */
export interface ApprovalSubject<V extends AnySnapshot, S extends ApprovalState> extends SignedSubject<V> {
  /** True where only the credential of an admin may request something. */
  readonly needsAdmin: boolean;
  /** Reads a record with the state that a message is checked against; undefined when it does not exist. */
  read(db: Db | Tx, key: MessageKey): Promise<(V & MessageOrigin) | undefined>;
  /** Locks a record and reads it as it is under the locks. With `exclusive` no other execution runs meanwhile. */
  lock(
    tx: Tx,
    key: MessageKey,
    options?: { exclusive?: boolean | undefined },
  ): Promise<(V & MessageOrigin) | undefined>;
  state(snapshot: V): S;
  /** The snapshot with the member in it whose wallet a signature claims: the member may not be part of it yet. */
  withVoter<W extends V>(db: Db | Tx, snapshot: W, signature: string): Promise<W>;
  /** The role that a vote of that type requires, as refusals name it, such as `an admin of the organization`. */
  role(type: VoteType): string;
  /** The initiator's signature that a vote of that type is bound to; null for none. */
  boundTo(snapshot: V, type: VoteType): string | null;
  /** Who was eligible, for the evidence. */
  electorate(now: V['now']): JsonValue;
  /** What every audit entry of a record says about it. */
  about(record: V['record']): { readonly [key: string]: JsonValue };
}
