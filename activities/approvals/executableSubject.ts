import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import type { IdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import type { ExpectedVersion } from '../../src/db/approvalLocks';
import type { CreationRequest } from '../../src/db/approvals';
import type { AuditInput } from '../../src/db/audit';
import type { TakenClaim } from '../../src/db/claims';
import type { Db, Tx } from '../../src/db/database';
import type { RoomInWindow } from '../../src/db/policyRoom';
import type { MessageKey, MessageOrigin } from '../../src/db/receivedMessages';
import type { Statement } from '../../src/db/rows';
import type { Actor } from '../../src/domain/actor';
import type { ApprovalRecord, FailureCode, Note } from '../../src/domain/approval';
import type { ApprovalKey, ApprovalRef } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { Result } from '../../src/domain/refusal';
import type { WalletCode } from '../../src/domain/walletWarning';
import type { ExternalReads } from '../../src/operations/kind';

/** The dependencies of the activities of approvals. */
export interface ApprovalDeps {
  readonly db: Db;
  /** True in production: demo wallets are refused. */
  readonly production: boolean;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  readonly readToken: ExternalReads['readToken'];
  /** The network of contract wallets: elsewhere the address of one may be somebody else's. Absent: it is nowhere. */
  readonly signerNetworkId?: number | undefined;
  /** What is at the address of a wallet, on the network of contract wallets. Never throws. */
  readonly readWalletCode: (address: string) => Promise<WalletCode>;
  /** Notifies the workflow of an approval to read it again. */
  readonly refresh: (approval: ApprovalRef) => Promise<void>;
  /** Milliseconds from creation to expiry. */
  readonly proposalLifetimeMs: number;
  readonly maxOpenPerKey: number;
}

/** Where a change is written: in a transaction that has locked the approval, or in one statement that expects the version that was read. */
export type WriteTarget =
  | { readonly db: Tx; readonly expected?: never }
  | { readonly db: Db; readonly expected: ExpectedVersion };

/** A snapshot with the message that it was read for. */
export type Seen<V extends AnySnapshot> = V & MessageOrigin;

/** The record that a stored request becomes. */
export interface PlannedApproval<S> {
  /** One line in plain words. It is signed. */
  readonly summary: string;
  /** What no other open approval may claim. */
  readonly claims: readonly string[];
  /** Its subjects; their changes are noted on it. */
  readonly mentions: readonly string[];
  /** What its readers should know from the beginning. */
  readonly notes?: readonly Omit<Note, 'at'>[];
  /** Inserts the subject's part of the record. */
  readonly insert: Statement;
  /** What the audit entry of its creation says of it, `about` included. */
  readonly audit: { readonly [key: string]: JsonValue };
  /** The state of its record once that is stored; undefined: it has to be read, because the tables are behind what it was planned from. */
  readonly initialState: (
    created: ApprovalRecord,
    read: Pick<CreationRequest, 'sequence' | 'time'>,
  ) => S | undefined;
}

/** Why an execution cannot begin, or has failed. */
export interface ExecutionRefusal {
  readonly code: FailureCode;
  readonly message: string;
  readonly transactionHash?: string | undefined;
}

/** The beginning of an execution, from what was read and verified. */
export interface Beginning<V extends AnySnapshot> {
  readonly seen: Seen<V>;
  /** Number of this execution, from 1. */
  readonly attempt: number;
  readonly actor: Actor;
  /** Records the message that asks for it, and the vote that it comes with. */
  readonly batch: readonly Statement[];
  /** The audit entry of that vote, where there is one. */
  readonly entries: readonly AuditInput[];
  /** The notes with that of the vote, where it replaces another one. */
  readonly notes?: readonly Note[] | undefined;
}

/** The parts of creation that depend on the subject. `I` is the input of its creation. */
export interface CreatableSubject<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>
  extends ApprovalSubject<V, S> {
  /** True for a request of this kind. */
  isRequestedBy(input: I, request: NonNullable<CreationRequest['request']>): boolean;
  /**
   * Plans the record from the stored request, reading chains where it has to: no database transaction is open. Its refusal is
   * final; it throws while a chain is unavailable that it needs. The record is stored only where the admins have decided nothing
   * since the request was read.
   */
  plan(deps: ApprovalDeps, input: I, body: JsonValue): Promise<Result<PlannedApproval<S>>>;
  /** Why another approval cannot be created beside the one that has its claim. */
  takenText(taken: TakenClaim): string;
}

/** The parts of execution that depend on the subject. */
export interface ExecutableSubject<V extends AnySnapshot, S extends ApprovalState>
  extends ApprovalSubject<V, S> {
  /** True when a message of the service itself is obsolete. */
  isOutdated(record: V['record']): boolean;
  /** True when the decision is sealed and only its effects are missing: this execution resumes them, without evidence of its own. */
  isResumed(record: V['record']): boolean;
  resume(tx: Tx, record: V['record']): Promise<void>;
  /**
   * The policy whose budget an approval's execution takes from, and what has to be left in it; null: nothing limits it;
   * undefined: it has to be read, with the record locked.
   */
  budget?(seen: V): { readonly policyId: string; readonly room: RoomInWindow | null | undefined };
  /**
   * What is written with the beginning of an approval's execution, such as the reservation of its budget. A refusal makes it
   * blocked.
   */
  reserve?(
    deps: ApprovalDeps,
    target: WriteTarget,
    beginning: Beginning<V>,
  ): Promise<{ readonly refused: ExecutionRefusal } | { readonly batch: readonly Statement[] }>;
  /** True when a rejection takes effect only once the signer has sealed it. */
  isRejectionSealed(record: V['record']): boolean;
  /** The `result` of a rejection. */
  readonly rejectedResult: object;
  /**
   * Clears the remains of an earlier execution, when the next one begins or is refused, or the approval is rejected. Returns
   * what is left. It writes only where the record is locked: see `budget`.
   */
  clear<W extends V>(db: Db | Tx, seen: W): Promise<W>;
}

/** The input of every creation. */
export interface CreateInput extends ApprovalKey {
  readonly requestId?: string | undefined;
}

/** A message to an approval, from its workflow. */
export interface MessageInput extends MessageKey {
  readonly messageId: string;
}
