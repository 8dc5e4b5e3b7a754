import type { EnvelopeTerms, TransactionTerms } from '../../src/domain/terms';
import type { AttemptOutcome } from '../../src/domain/transaction';
import type { ExecutionFailure } from '../../src/domain/transactionState';

/** The state of a transaction on its chain, and the next step of its execution. */
export type TransactionObservation =
  | { readonly kind: 'decided'; readonly outcome: AttemptOutcome }
  /** Something signed is in flight; this is the newest envelope that carries it. */
  | { readonly kind: 'inFlight'; readonly envelopeId: string }
  | {
      readonly kind: 'needsEnvelope';
      readonly terms: TransactionTerms;
      /** The envelope is for the empty call that uses the transaction's nonce. */
      readonly cancels: boolean;
      /** An attempt was signed before, so it can still be included. */
      readonly attempted: boolean;
    }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** Nothing is signed, and nothing can be now. */
  | { readonly kind: 'failed'; readonly failure: ExecutionFailure; readonly awaitsRelayerWei?: string }
  | {
      readonly kind: 'confirming';
      readonly message: string;
      /** The signer has recorded an outcome that this node does not confirm: its block is lost, or the node is behind. */
      readonly unconfirmed?: true;
    };

/** The outcome of following an envelope of a transaction. */
export type TransactionFollowed =
  | { readonly kind: 'decided'; readonly outcome: AttemptOutcome }
  /** The envelope can no longer be included, and the transaction is undecided. */
  | { readonly kind: 'reverted' | 'dropped' }
  | { readonly kind: 'stuck'; readonly terms: TransactionTerms; readonly cancels: boolean }
  | { readonly kind: 'gap'; readonly nonce: number; readonly terms: EnvelopeTerms }
  | { readonly kind: 'waiting'; readonly message: string | null };

/** Terms of an envelope for a signed attempt, or for the empty call that cancels it. */
export function attemptTerms(
  envelope: EnvelopeTerms,
  { safeTxGas }: { readonly safeTxGas: bigint },
  fromBlock: bigint,
  accountNonce: bigint,
): TransactionTerms {
  return {
    ...envelope,
    safeTxGas: String(safeTxGas),
    accountNonce: String(accountNonce),
    fromBlock: String(fromBlock),
  };
}
