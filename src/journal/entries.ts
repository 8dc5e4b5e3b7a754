import type { JsonValue } from '../domain/canonicalJson';
import type { SignedGas } from '../domain/gasBudget';

/** The first entry: the installation whose database the journal belongs to. */
export interface CreatedEntry {
  readonly type: 'created';
  readonly installationId: string;
}

/** What the signer authorizes, whole, before it signs. Numbers that can be large are decimal strings. */
export interface AuthorizationEntry {
  readonly type: 'authorization';
  readonly organizationId: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly networkId: number;
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
  readonly policyId: string;
  readonly initiatorId: string;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly destination: string;
  /** ISO 8601, by the signer's clock. */
  readonly authorizedAt: string;
  /** The verified payloads and votes; null where the row was taken over by its signature alone. */
  readonly evidence: JsonValue;
  /** Its rows in Postgres as JSON text, exact; null where they were not read. */
  readonly rows: string | null;
}

/** What the signer has read about an authorization; or that it will never authorize a transaction, which was rejected. */
export interface OutcomeEntry {
  readonly type: 'outcome';
  readonly organizationId: string;
  readonly transactionId: string;
  readonly outcome: 'executed' | 'reverted' | 'cancelled' | 'rejected';
  /** ISO 8601; null for `rejected`. */
  readonly blockAt: string | null;
}

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

/** One state of an organization's governance, in order. */
export interface SealEntry {
  readonly type: 'seal';
  readonly organizationId: string;
  readonly sequence: number;
  readonly hash: string;
  readonly body: JsonValue;
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

/** One entry of the journal. */
export type JournalEntry =
  | CreatedEntry
  | AuthorizationEntry
  | OutcomeEntry
  | GasEntry
  | FreezeEntry
  | SealEntry
  | UnknownExecutionEntry;

/** A nonce of an account on a network. */
export interface AccountNonce {
  readonly accountId: string;
  readonly networkId: number;
  readonly safeNonce: bigint;
}

/** The journal cannot be opened, read or written; the message names the file, the line and what to do. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}
