import { type Hex, keccak256 } from 'viem';
import type { IdentifyVoter, Voter } from '../chain/voter';
import type { StoredVote } from '../db/approvals';
import type { Db, Tx } from '../db/database';
import { isSameAddress } from '../domain/address';
import { type ApprovalState, countedVotes, type VoteType } from '../domain/approval';
import { accept, type Outcome, refuse } from '../domain/refusal';
import type { AnySnapshot, ApprovalSubject } from './subject';

/** keccak256 of a signature as it was sent: what approvals and rejections of a transaction are bound to. */
export function signatureHash(signature: string): string {
  return keccak256(signature.toLowerCase() as Hex);
}

/** The identity of a vote: equal for the same signature of the same member, with the same wallet. */
export function voteKey({ memberId, type, signerAddress, signatureHash: hash }: StoredVote): string {
  return `${memberId}/${type}/${signerAddress}/${hash}`;
}

/**
 * Finds out who signed, and whether they may vote now. Refuses with conflict (before its initiator has signed),
 * invalidSignature or forbidden; throws ChainUnavailable.
 */
export async function identifySignatory<V extends AnySnapshot, W extends V, S extends ApprovalState>(
  { db, identifyVoter }: { readonly db: Db | Tx; readonly identifyVoter: IdentifyVoter },
  subject: ApprovalSubject<V, S>,
  seen: W,
  { type, signature }: { readonly type: VoteType; readonly signature: string },
): Promise<Outcome<Voter & { readonly seen: W; readonly payload: string }>> {
  const payload = subject.payload(seen, type);
  if (payload === undefined) {
    const { subject: noun } = subject.rules;
    return refuse('conflict', `${noun} ${seen.record.id} waits for the signature of its initiator first`);
  }
  const whole = await subject.withVoter(db, seen, signature);
  const { record, now } = whole;
  const eligible = subject.rules
    .people(now)
    .filter((member) => subject.rules.mayVote(record, now, type, member));
  const voter = await identifyVoter({ payload, signature, eligible, role: subject.role(type) });
  return voter.ok ? accept({ ...voter.value, seen: whole, payload }) : voter;
}

/** The votes of a type that count and whose signatures verify again, at this moment. Throws ChainUnavailable. */
export async function verifyVotes<V extends AnySnapshot, S extends ApprovalState>(
  identifyVoter: IdentifyVoter,
  subject: ApprovalSubject<V, S>,
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
      const eligible = people.filter(
        ({ id, walletAddress }) => id === vote.memberId && isSameAddress(walletAddress, vote.signerAddress),
      );
      const voter = await identifyVoter({ payload, signature, eligible });
      return voter.ok && signatureHash(signature) === vote.signatureHash ? [vote] : [];
    }),
  );
  return verified.flat();
}
