import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/subject';
import type { IdentifyVoter } from '../../src/chain/voter';
import type { NetworkConfig } from '../../src/config';
import type { CreationRequest, MessageKey, MessageOrigin } from '../../src/db/approvals';
import type { Actor, AuditInput } from '../../src/db/audit';
import type { Db, Tx } from '../../src/db/database';
import type { ApprovalState, Decision, FailureCode } from '../../src/domain/approval';
import type { ApprovalKey, ApprovalRef } from '../../src/domain/approvalRef';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { Outcome } from '../../src/domain/refusal';
import type { KindContext, Outside } from '../../src/operations/kind';

/** What the activities of approvals need from outside. */
export interface ApprovalDeps {
  readonly db: Db;
  readonly networks: readonly NetworkConfig[];
  readonly identifyVoter: IdentifyVoter;
  readonly deriveAccount: KindContext['deriveAccount'];
  readonly readToken: Outside['readToken'];
  /** Notifies the workflow of an approval to read it again. */
  readonly refresh: (approval: ApprovalRef) => Promise<void>;
  /** Milliseconds from creation to expiry. */
  readonly proposalLifetimeMs: number;
  readonly maxOpenPerKey: number;
}

/** A snapshot with the message that it was read for. */
export type Seen<V extends AnySnapshot> = V & MessageOrigin;

/** A stored request made into a record. */
export interface PlannedApproval {
  /** One line in plain words. It is signed. */
  readonly summary: string;
  /** What no other open approval may claim. */
  readonly claims: readonly string[];
  /** What it is about; a change of these is noted on it. */
  readonly names: readonly string[];
  /** Stores what the subject has besides the approval. */
  readonly store: (tx: Tx, id: string) => Promise<void>;
  /** What the audit entry of its creation says. */
  readonly audit: { readonly [key: string]: JsonValue };
}

/** Why an execution cannot begin, or has failed. */
export interface ExecutionRefusal {
  readonly code: FailureCode;
  readonly message: string;
  readonly transactionHash?: string | undefined;
}

/** An execution that is to begin: under the locks, with every vote verified again. */
export interface Beginning<V extends AnySnapshot> {
  readonly seen: Seen<V>;
  /** Number of this execution, from 1. */
  readonly attempt: number;
  readonly actor: Actor;
}

/** What an execution did off chain when it began. */
export interface Begun {
  /** True when nothing is left to do. */
  readonly isComplete: boolean;
  readonly result?: object;
  readonly audit: readonly AuditInput[];
  /** Called once the approval says that it is executed; returns how many other approvals were noted on. */
  readonly settle?: (tx: Tx) => Promise<number>;
  /** Called with the positions of `audit` in the chain. */
  readonly place?: ((positions: readonly bigint[]) => Promise<void>) | undefined;
}

/** What a subject does in its own way when it is created and executed. */
export interface ExecutableSubject<V extends AnySnapshot, S extends ApprovalState, I extends CreateInput>
  extends ApprovalSubject<V, S> {
  /** True for a request that asks for this. */
  isRequestedBy(input: I, request: NonNullable<CreationRequest['request']>): boolean;
  needsSigningKey(input: I): boolean;
  /** Reads what the plan needs from chains, while no database transaction is open. Its refusal is final. */
  observe(deps: ApprovalDeps, input: I, body: JsonValue): Promise<Outcome<unknown>>;
  /** Makes the stored request into a record, in the transaction that stores it. */
  plan(
    context: { readonly deps: ApprovalDeps; readonly tx: Tx; readonly input: I },
    body: JsonValue,
    observed: unknown,
  ): Promise<Outcome<PlannedApproval>>;
  /** True when an execution of that decision must be the only one of its organization. */
  isAlone(record: V['record'], decision: Decision): boolean;
  /** True when a message of the service itself has become pointless. */
  isOutdated(record: V['record']): boolean;
  /** True when an earlier execution did the off-chain part: this one resumes it, without evidence of its own. */
  isResumed(record: V['record']): boolean;
  resume(tx: Tx, record: V['record']): Promise<void>;
  /** Executes the off-chain part. What it refuses is undone; it leaves the approval blocked. */
  execute(
    context: { readonly deps: ApprovalDeps; readonly tx: Tx },
    beginning: Beginning<V>,
  ): Promise<Begun | { readonly refused: ExecutionRefusal }>;
  /** The `result` of a rejection. */
  readonly rejectedResult: object;
  /** Clears what an earlier execution has left, when the next one begins, is refused, or the approval is rejected. */
  clear(tx: Tx, record: V['record']): Promise<void>;
}

/** What every creation is asked with. */
export interface CreateInput extends ApprovalKey {
  readonly requestId?: string | undefined;
}

/** A message to an approval, as its workflow hands it on. */
export interface MessageInput extends MessageKey {
  readonly messageId: string;
}
