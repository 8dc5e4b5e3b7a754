import { EndpointsMissing } from '../chain/signatures';
import type { IdentifyVoter, Voter } from '../chain/voter';
import type { Db, Tx } from '../db/database';
import type { StoredVote } from '../db/storedApprovals';
import { countedVotes, type MemberSummary, type VoteType } from '../domain/approval';
import type { ApprovalState } from '../domain/approvalState';
import { accept, type Result, refuse } from '../domain/refusal';
import { walletKindOf } from '../domain/wallet';
import type { AnySnapshot, ApprovalSubject } from './approvalSubject';
import { signatureHash, withVotes } from './verifiedVotes';

/** The identity of a vote: equal for the same signature of the same member, with the same wallet of the same kind. */
export function voteKey({ memberId, type, signerAddress, scheme, signatureHash: hash }: StoredVote): string {
  return `${memberId}/${type}/${signerAddress}/${walletKindOf(scheme)}/${hash}`;
}

/** Where nothing can verify signatures of contract wallets, a vote of one is refused rather than recorded in vain. */
async function refusingWithoutEndpoints(identify: () => Promise<Result<Voter>>): Promise<Result<Voter>> {
  try {
    return await identify();
  } catch (error) {
    if (error instanceof EndpointsMissing) return refuse('forbidden', error.message, 'signature');
    throw error;
  }
}

/** How often a member can sign one request: every signature is read, and verified again, whenever the request is decided. */
const MAX_SIGNATURES = 10;

type Identifying = { readonly identifyVoter: IdentifyVoter };

/**
 * What was read, without the votes of a type by a member whose wallet does not accept the newest of them any more: they do not
 * keep another signature out. `replaced`: that newest one. Refuses with conflict one signature too many of a wallet that
 * accepts none for long. Throws ChainUnavailable.
 */
async function withoutRefusedVotes<V extends AnySnapshot, W extends V, S extends ApprovalState>(
  { identifyVoter }: Identifying,
  subject: ApprovalSubject<V, S>,
  seen: W,
  {
    member,
    type,
    signature,
    payload,
  }: {
    readonly member: MemberSummary;
    readonly type: VoteType;
    readonly signature: string;
    readonly payload: string;
  },
): Promise<Result<{ readonly seen: W; readonly replaced?: StoredVote }>> {
  const { record, now } = seen;
  const counted: readonly StoredVote[] = countedVotes(subject.rules, record, now, type);
  const own = counted.filter(({ memberId }) => memberId === member.id);
  const newest = own.at(-1);
  if (!newest || newest.signatureHash === signatureHash(signature)) return accept({ seen });
  const standing = await identifyVoter({ payload, signature: newest.signature, eligible: [member] });
  if (standing.ok) return accept({ seen });
  if (own.length >= MAX_SIGNATURES) {
    const { subject: noun } = subject.rules;
    const signed = type === 'initiator' ? 'signed' : `signed to ${type}`;
    const often = `has already ${signed} ${noun} ${record.id} ${own.length} times`;
    return refuse(
      'conflict',
      `member ${member.id} ${often}, and the wallet does not accept the newest: create the ${noun} again`,
    );
  }
  const votes = record.votes.filter((vote) => vote.memberId !== member.id || vote.type !== type);
  return accept({ seen: withVotes(seen, votes), replaced: newest });
}

/**
 * Finds out who signed, and whether they may vote now. `seen` is without what the new signature replaces: `replaced`, which
 * the wallet does not accept any more. Refuses with conflict (before its initiator has signed, or signed too often),
 * invalidSignature or forbidden; throws ChainUnavailable.
 */
export async function identifySignatory<V extends AnySnapshot, W extends V, S extends ApprovalState>(
  { db, identifyVoter }: Identifying & { readonly db: Db | Tx },
  subject: ApprovalSubject<V, S>,
  seen: W,
  { type, signature }: { readonly type: VoteType; readonly signature: string },
): Promise<Result<Voter & { readonly seen: W; readonly replaced?: StoredVote }>> {
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
  const voter = await refusingWithoutEndpoints(() =>
    identifyVoter({ payload, signature, eligible, role: subject.role(type) }),
  );
  if (!voter.ok) return voter;
  const { member } = voter.value;
  const vote = { member, type, signature, payload };
  const current = await withoutRefusedVotes({ identifyVoter }, subject, whole, vote);
  return current.ok ? accept({ ...voter.value, ...current.value }) : current;
}
