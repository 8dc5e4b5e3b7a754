import { signedTransaction } from '../../approvals/signedTransaction';
import { verifyDecision } from '../../approvals/verifiedVotes';
import type { StoredTransaction, TransactionSnapshot } from '../../db/storedTransactions';
import type { Decision } from '../../domain/approval';
import { canonicalJson } from '../../domain/canonicalJson';
import type { SignerContext } from '../signerContext';
import { canBeSigned } from './sealedTransaction';

/** The votes of a transaction. */
export type Votes = StoredTransaction['votes'];

/**
 * The votes for a decision about a transaction whose signatures are valid now. Outside the database transaction, because
 * signatures of contract wallets are verified on chain. Throws ChainUnavailable.
 */
export async function verifiedVotes(
  { identifyVoter }: Pick<SignerContext, 'identifyVoter'>,
  seen: TransactionSnapshot,
  decision: Decision = 'approve',
): Promise<Votes> {
  if (!canBeSigned(seen)) return [];
  return verifyDecision(identifyVoter, signedTransaction, seen, decision);
}

/** The record with those of its votes that are stored now and were verified before the transaction began. */
export function withVerifiedVotes(record: StoredTransaction, verified: Votes): StoredTransaction {
  const identity = (vote: Votes[number]) => canonicalJson({ ...vote, createdAt: null });
  const stored = new Set(record.votes.map(identity));
  return { ...record, votes: verified.filter((vote) => stored.has(identity(vote))) };
}
