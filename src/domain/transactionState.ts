import type { FailureCode, MemberSummary } from './approval';
import { type ApprovalState, approvalState, tally } from './approvalState';
import {
  type AttemptOutcome,
  type EvaluationContext,
  type TransactionRecord,
  transactionRules,
} from './transaction';
import type { TokenTransferData } from './transactionData';

/** Why an execution failed or was blocked. */
export interface ExecutionFailure {
  readonly code: FailureCode;
  readonly message: string;
  readonly transactionHash?: string;
}

/** How an execution ended: on chain, or before anything was signed. */
export type ExecutionResult =
  | { readonly status: 'decided'; readonly outcome: AttemptOutcome }
  | {
      readonly status: 'failed' | 'blocked';
      readonly failure: ExecutionFailure;
      /** The relayer's balance is too low: the execution continues by itself at this balance. Decimal wei. */
      readonly awaitsRelayerWei?: string;
    };

/** The part of a transaction that its workflow keeps. */
export interface TransactionState extends ApprovalState {
  readonly accountId: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly operation: 'transfer' | 'call';
  /** What it sends: `1.5 USDC`, or the wei of a call; null for none. */
  readonly amount: string | null;
  readonly initiator: MemberSummary;
  readonly transactionHash: string | null;
  readonly waitingFor: string | null;
  /** Decimal wei. */
  readonly awaitsRelayerWei: string | null;
  readonly cancelling: boolean;
  /** The signer has recorded its rejection, and the record does not say so yet. */
  readonly rejecting: boolean;
}

/** What a transaction sends, in words; null where it sends nothing. */
function sentAmount({ type, content, value }: TransactionRecord): string | null {
  if (type !== 'TOKEN_TRANSFER') return value === 0n ? null : `${value} wei`;
  const { displayAmount, asset } = content as unknown as TokenTransferData;
  return `${displayAmount} ${asset.decimals === null ? 'raw units of ' : ''}${asset.symbol}`;
}

/** The state of a transaction now. */
export function transactionState(record: TransactionRecord, now: EvaluationContext): TransactionState {
  return {
    ...approvalState(transactionRules, record, now),
    accountId: record.accountId,
    networkId: record.networkId,
    policyId: record.policyId,
    operation: record.type === 'TOKEN_TRANSFER' ? 'transfer' : 'call',
    amount: sentAmount(record),
    initiator: tally(transactionRules, record, now).initiator ?? record.initiator,
    transactionHash: record.chain?.transactionHash ?? null,
    waitingFor: record.waitingFor,
    awaitsRelayerWei: record.awaitsRelayerWei === null ? null : String(record.awaitsRelayerWei),
    cancelling: record.cancelling,
    rejecting: record.signerOutcome === 'rejected' && !record.closed,
  };
}
