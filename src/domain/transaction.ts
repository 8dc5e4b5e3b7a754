import {
  type ApprovalContext,
  type ApprovalRecord,
  type ApprovalRules,
  isVoteOf,
  type MemberSummary,
  type Vote,
} from './approval';
import type { JsonValue } from './canonicalJson';
import { isNetworkGone } from './networkNotes';
import type { Policy } from './policy';
import { approversOf, mayInitiate, type PolicyContext } from './policyEngine';
import type { References } from './references';
import type { TransactionContent } from './transactionContent';

/** Names one transaction. */
export interface TransactionRef {
  readonly organizationId: string;
  readonly transactionId: string;
}

/** The outcome of an attempt on chain, with its network's confirmations. */
export type AttemptOutcome = {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** ISO 8601. */
  readonly blockTime: string;
  /** What the chain transaction cost its sender: decimal wei. */
  readonly fee?: string;
  /** How often the transaction had been reopened when this was read; absent: never. */
  readonly reopenings?: number;
} & (
  | {
      readonly kind: 'executed';
      /** What approvers should know about it, in words. */
      readonly note?: string;
      /** The signer had read another outcome, in a block that the chain has lost: it reads this one too. */
      readonly reversed?: true;
    }
  /** The account's call failed inside; `reason` is in words. */
  | { readonly kind: 'reverted'; readonly reason: string }
  /** Its nonce was used up by an empty call, or by an execution that nobody here has authorized. */
  | { readonly kind: 'cancelled' }
);

/** The state of a transaction on chain, from its first broadcast on. */
interface TransactionOnChain {
  readonly transactionHash: string;
  readonly submittedAt: Date;
  readonly confirmations: number;
}

/** The result of a transaction. Hash and block are those of the chain transaction. */
interface TransactionResult {
  readonly resolution: 'approved' | 'rejected';
  readonly transactionHash?: string;
  readonly blockNumber?: number;
  /** Time of the block: ISO 8601. */
  readonly executedAt?: string;
  /** What the chain transaction cost the relayer: decimal wei. */
  readonly fee?: string;
}

/** What relayers have paid for several chain transactions. Amounts are decimal digits: wei, and gas. */
export interface PaidFees {
  readonly paid: string;
  readonly gasUsed: string;
  /** Of `paid`, what a rollup charges for data beside the gas. */
  readonly dataFee: string;
  readonly chainTransactions: number;
  /** Of how many the fee is not known: `paid` lacks them. */
  readonly unknown: number;
}

/** A transaction of an account, open or decided under its policy. */
export interface TransactionRecord extends ApprovalRecord {
  readonly accountId: string;
  /** Checksummed. */
  readonly accountAddress: string;
  readonly networkId: number;
  readonly policyId: string;
  /** The current member, or as they were at removal. */
  readonly initiator: MemberSummary;
  readonly description: string;
  readonly type: TransactionContent['type'];
  /** Checksummed. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** 0x hex, as it was sent. */
  readonly calldata: string;
  /** The same as the API shows it. */
  readonly content: JsonValue;
  /** The failed transaction of the account that it replaces; null for none. */
  readonly replaces: string | null;
  readonly references: References;
  /** What the relayers have paid for it; null: nothing yet. */
  readonly fees: PaidFees | null;
  readonly updatedAt: Date;
  readonly result: TransactionResult | null;
  readonly chain: TransactionOnChain | null;
  /** What an execution waits for, as text. */
  readonly waitingFor: string | null;
  /** The relayer's balance in wei at which the execution continues by itself. */
  readonly awaitsRelayerWei: bigint | null;
  /** An operator has requested the cancellation of the in-flight attempt. */
  readonly cancelling: boolean;
  /** What the signer has read about it on chain, or `rejected`: nothing of it will be signed. Null: undecided. */
  readonly signerOutcome: AttemptOutcome['kind'] | 'rejected' | null;
  /** How often it was reopened, because the chain had lost its block. */
  readonly reopenings: number;
}

/** The state that the rules of a transaction depend on: its policy, the current members and groups, and the database's time. */
export interface EvaluationContext extends ApprovalContext, Pick<PolicyContext, 'members' | 'groups'> {
  /** The current version; of a removed policy the last version. */
  readonly policy: Policy;
  readonly policyRemoved: boolean;
}

/** The initiator's newest signature, made with their current wallet. Undefined while there is none. */
export function initiatorVote<V extends Vote>(
  { initiator, votes }: { readonly initiator: MemberSummary; readonly votes: readonly V[] },
  { members }: Pick<EvaluationContext, 'members'>,
): V | undefined {
  const member = members.get(initiator.id);
  return member && votes.findLast((vote) => vote.type === 'initiator' && isVoteOf(member, vote));
}

function everybody({ members, groups }: EvaluationContext): readonly MemberSummary[] {
  const people = new Map(members);
  for (const group of groups.values()) for (const member of group) people.set(member.id, member);
  return [...people.values()].sort((one, two) => (one.id < two.id ? -1 : 1));
}

/** Transactions are decided under their policy; approvals and rejections are bound to the initiator's signature. */
export const transactionRules: ApprovalRules<TransactionRecord, EvaluationContext> = {
  subject: 'transaction',
  people: everybody,
  mayVote({ initiator }, now, type, member) {
    if (type === 'initiator') return member.id === initiator.id;
    if (now.policy.type === 'AUTO_APPROVAL') {
      return type === 'reject' && mayInitiate(now.policy, member.id, now);
    }
    return approversOf(now.policy, initiator.id, now).approvers.some(({ id }) => id === member.id);
  },
  isBound(record, now, vote) {
    const initiated = initiatorVote(record, now);
    if (!initiated) return false;
    return vote.type === 'initiator' || vote.initiatorSignatureHash === initiated.signatureHash;
  },
  thresholds({ initiator }, now) {
    const { threshold } = approversOf(now.policy, initiator.id, now);
    return { approve: threshold, reject: Math.max(1, threshold) };
  },
  isInitiated: (record, now) => initiatorVote(record, now) !== undefined,
  isPartlyDone: () => false,
  isFinishable: () => false,
  awaitsResumption: ({ awaitsRelayerWei, signerOutcome, networkId, notes }) =>
    awaitsRelayerWei !== null &&
    signerOutcome !== 'rejected' &&
    !isNetworkGone('transaction', networkId, notes),
  initiatorOf: ({ initiator }) => initiator,
};
