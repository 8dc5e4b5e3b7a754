import type { JsonValue } from '../../domain/canonicalJson';
import type { SignedGas } from '../../domain/gasBudget';
import type { JournaledRecord } from '../../domain/journaledRecord';

/** The first entry: the installation whose database the journal belongs to. */
interface CreatedEntry {
  readonly type: 'created';
  readonly installationId: string;
}

/** A transaction that the signer has decided about: what it spends, and its record. Large numbers are decimal strings. */
interface DecidedTransaction {
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly initiatorId: string;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly destination: string;
  /** The failed transaction that it replaces; null where it replaces none. */
  readonly replaces: string | null;
  /** As it was then: a database that lost it gets it back. Null where a journal was completed from a database without it. */
  readonly record: JournaledRecord | null;
}

/** What the signer authorizes, whole, before it signs. */
export interface AuthorizationEntry extends DecidedTransaction {
  readonly type: 'authorization';
  readonly safeNonce: string;
  readonly safeTxHash: string;
  /** Address of the account, and the rest of the Safe transaction. */
  readonly account: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
  readonly safeTxGas: string;
  /** Head of the chain when it was authorized. */
  readonly fromBlock: string;
  /** ISO 8601, by the signer's clock. */
  readonly authorizedAt: string;
  /**
   * The verified payloads and votes; null where a completed journal has it by the signature of the key or its execution alone:
   * its labels (transaction, policy, initiator) are those of a row, which nobody has signed.
   */
  readonly evidence: JsonValue;
}

/** What of an authorization is signed for the chain, as it is stored. */
interface SignedCall {
  readonly safeNonce: bigint;
  readonly safeTxHash: string;
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  readonly data: string;
  readonly safeTxGas: bigint;
  readonly fromBlock: bigint;
}

/** The part of an authorization that is signed for the chain. */
export function signedPart(call: SignedCall): Pick<AuthorizationEntry, keyof SignedCall> {
  return {
    safeNonce: String(call.safeNonce),
    safeTxHash: call.safeTxHash,
    to: call.to,
    value: String(call.value),
    data: call.data,
    safeTxGas: String(call.safeTxGas),
    fromBlock: String(call.fromBlock),
  };
}

/** A transaction that was rejected: it is never authorized. */
export interface RejectionEntry extends DecidedTransaction {
  readonly type: 'rejection';
  /** Its signed expiry, in ISO 8601; null where nothing has verified it. */
  readonly expiresAt: string | null;
}

/**
 * The cancellation of a transaction is to be signed: the empty call that uses its nonce. That is the nonce of its
 * authorization; or one that only the database had for it, because of a crash, and that nothing else takes any more.
 */
export interface CancellationEntry {
  readonly type: 'cancellation';
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: string;
  /** Hash of the empty call. */
  readonly safeTxHash: string;
}

/** What the signer has read about an authorization. */
export type OutcomeEntry = {
  readonly type: 'outcome';
  readonly organizationId: string;
  readonly transactionId: string;
} & (
  | {
      readonly outcome: 'executed' | 'reverted' | 'cancelled';
      /** ISO 8601. */
      readonly blockAt: string;
    }
  /**
   * It is undecided, or undecided again, because its block was lost. `usedAt`: its nonce is used, and no endpoint shows by
   * what; when the signer saw that first, in ISO 8601.
   */
  | { readonly outcome: null; readonly blockAt: null; readonly usedAt?: string }
);

/** The gas of one envelope of a relayer, before it is signed. Wei and gas are decimal strings. */
export interface GasEntry {
  readonly type: 'gas';
  /** The organization that it is for; null where a nonce is filled. */
  readonly organizationId: string | null;
  readonly kind: SignedGas['kind'];
  readonly networkId: number;
  readonly relayerAddress: string;
  readonly relayerNonce: number;
  readonly gas: string;
  readonly maxFeePerGas: string;
}

/** What an envelope may cost, as a gas budget counts it. `at`: when it was signed, in milliseconds. */
export function signedGas(
  { kind, relayerAddress, relayerNonce, gas, maxFeePerGas }: GasEntry,
  at: number,
): SignedGas {
  return { kind, relayerAddress, relayerNonce, wei: BigInt(gas) * BigInt(maxFeePerGas), at };
}

/** Stops, or permits again, authorizations and envelopes of an organization; null: of all. */
export interface FreezeEntry {
  readonly type: 'freeze' | 'unfreeze';
  readonly organizationId: string | null;
  /** Id of the request. */
  readonly id: string;
}

/**
 * The journal was completed from what others have: what was requested before, and is not in it, is neither authorized nor
 * decided any more.
 */
export interface CutoffEntry {
  readonly type: 'cutoff';
  /** null: of all organizations. */
  readonly organizationId: string | null;
  /** ISO 8601. A request with this signed expiry, or an earlier one, was made before. */
  readonly expiresUntil: string;
}

/** One state of an organization's governance, in order. */
export interface SealEntry {
  readonly type: 'seal';
  readonly organizationId: string;
  readonly sequence: number;
  readonly hash: string;
  /** Canonical JSON of the seal. */
  readonly body: string;
  readonly signature: string;
}

/** The entry of a stored seal. */
export function sealEntry({
  organizationId,
  sequence,
  hash,
  body,
  signature,
}: Omit<SealEntry, 'type'>): SealEntry {
  return { type: 'seal', organizationId, sequence, hash, body, signature };
}

/** A nonce of an account that was used by an execution that nobody here has authorized. */
export interface UnknownExecutionEntry {
  readonly type: 'unknownExecution';
  readonly organizationId: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: string;
  readonly safeTxHash: string;
  readonly transactionHash: string;
}

/**
 * A transaction with which the signer keeps the admins' Safe, whole, before it is signed: of its keeper, or the one that makes it
 * a module of an account. It is signed once for its nonce.
 */
export interface UpkeepEntry {
  readonly type: 'upkeep';
  readonly organizationId: string;
  readonly networkId: number;
  /** The account; null: the keeper. */
  readonly accountId: string | null;
  /** The address of the Safe that executes it, checksummed. */
  readonly safe: string;
  readonly safeNonce: string;
  readonly safeTxHash: string;
  readonly to: string;
  readonly data: string;
  readonly safeTxGas: string;
  /** The sealed decision whose admins it writes. */
  readonly sequence: number;
}

/** One entry of the journal. */
export type JournalEntry =
  | CreatedEntry
  | AuthorizationEntry
  | RejectionEntry
  | CancellationEntry
  | OutcomeEntry
  | GasEntry
  | FreezeEntry
  | CutoffEntry
  | SealEntry
  | UnknownExecutionEntry
  | UpkeepEntry;

/** A nonce of an account on a network. */
export interface AccountNonce {
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
}

/** The journal cannot be opened, read, written or trusted, or contradicts database, keystore or chain. The message says where. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
