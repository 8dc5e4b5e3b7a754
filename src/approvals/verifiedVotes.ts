import type { Hex } from 'viem';
import { keccak256 } from '../chain/keccak';
import type { IdentifyVoter } from '../chain/voter';
import type { StoredVote } from '../db/storedApprovals';
import { countedVotes, type Decision, isVoteOf, newestVotes, type VoteType } from '../domain/approval';
import type { AnySnapshot, SignedSubject } from './approvalSubject';

/** keccak256 of a signature as it was sent: what approvals and rejections of a transaction are bound to. */
export function signatureHash(signature: string): string {
  return keccak256(signature.toLowerCase() as Hex);
}

/** What was read, with these of its votes only. */
export function withVotes<V extends AnySnapshot>(seen: V, votes: readonly StoredVote[]): V {
  return { ...seen, record: { ...seen.record, votes } };
}

/**
 * The votes of a type that count and whose signatures verify again, at this moment; of each member the newest. Throws
 * ChainUnavailable and EndpointsMissing.
 */
export async function verifyVotes<V extends AnySnapshot>(
  identifyVoter: IdentifyVoter,
  subject: SignedSubject<V>,
  seen: V,
  type: VoteType,
): Promise<readonly StoredVote[]> {
  const payload = subject.payload(seen, type);
  if (payload === undefined) return [];
  const people = subject.rules.people(seen.now);
  const counted: readonly StoredVote[] = countedVotes(subject.rules, seen.record, seen.now, type);
  const verified = await Promise.all(
    counted.map(async (vote) => {
      const { signature } = vote;
      const eligible = people.filter((member) => isVoteOf(member, vote));
      const voter = await identifyVoter({ payload, signature, eligible });
      return voter.ok && signatureHash(signature) === vote.signatureHash ? [vote] : [];
    }),
  );
  return newestVotes(verified.flat());
}

/**
 * The votes for a decision that count and whose signatures verify again: an approval is bound to the initiator's signature, and
 * needs a valid one. Throws ChainUnavailable and EndpointsMissing.
 */
export async function verifyDecision<V extends AnySnapshot>(
  identifyVoter: IdentifyVoter,
  subject: SignedSubject<V>,
  seen: V,
  decision: Decision,
): Promise<readonly StoredVote[]> {
  const proving: StoredVote[] = [];
  let votes = seen.record.votes;
  for (const type of [...subject.provedBy, decision]) {
    const verified = await verifyVotes(identifyVoter, subject, withVotes(seen, votes), type);
    votes = [...votes.filter((vote) => vote.type !== type), ...verified];
    proving.push(...verified);
  }
  return proving;
}
