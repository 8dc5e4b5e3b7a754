import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/subject';
import { identifySignatory, signatureHash } from '../../src/approvals/voters';
import type { Voter } from '../../src/chain/voter';
import { insertMessage, insertVote } from '../../src/db/approvals';
import type { Tx } from '../../src/db/database';
import {
  type ApprovalState,
  checkVote,
  isVoteOf,
  type MemberSummary,
  tally,
} from '../../src/domain/approval';
import { credentialDetail } from '../../src/domain/credential';
import { failpoint } from '../../src/failpoints';
import type { MessageResult, SignMessage } from '../../src/temporal/messages';
import { approvalEntry, memberActor } from './audit';
import { approvalNotFound, changeApproval, lockOrRefuse } from './read';
import { catchRefusal, Rollback } from './refusals';
import type { ApprovalDeps, MessageInput, Seen } from './subject';

/** A vote, from the workflow. */
export type VoteInput = MessageInput & SignMessage;

/** The eligible voter under the locks; undefined when eligibility has changed since the verification. */
function eligibleMember<V extends AnySnapshot, S extends ApprovalState>(
  subject: ApprovalSubject<V, S>,
  { record, now }: Seen<V>,
  type: VoteInput['type'],
  voter: Voter,
): MemberSummary | undefined {
  return subject.rules
    .people(now)
    .find(
      (member) =>
        isVoteOf(member, { ...voter, memberId: voter.member.id }) &&
        subject.rules.mayVote(record, now, type, member),
    );
}

async function storeVote<V extends AnySnapshot, S extends ApprovalState>(
  tx: Tx,
  subject: ApprovalSubject<V, S>,
  input: VoteInput,
  verified: Voter & { readonly payload: string },
): Promise<MessageResult<S> | undefined> {
  const { id, messageId, type, signature, reason, execute } = input;
  const locked = await lockOrRefuse(tx, subject, input);
  if (locked.messageTaken) return { ok: true, state: subject.state(locked) };
  const seen = await subject.withVoter(tx, locked, signature);
  const member = eligibleMember(subject, seen, type, verified);
  if (!member || subject.payload(seen, type) !== verified.payload) return undefined;
  const { record, now, credentialId } = seen;
  const allowed = checkVote(subject.rules, record, now, { member, type, execute });
  if (!allowed.ok) throw new Rollback(allowed.refusal);
  if (allowed.value === 'repeated') {
    await insertMessage(tx, id, messageId, 'sign');
    return { ok: true, state: subject.state(seen) };
  }
  const vote = {
    memberId: member.id,
    type,
    signerAddress: verified.signerAddress,
    scheme: verified.scheme,
    signature,
    signatureHash: signatureHash(signature),
    initiatorSignatureHash: subject.boundTo(seen, type),
  };
  const voted = {
    ...seen,
    record: { ...record, votes: [...record.votes, { ...vote, createdAt: now.time }] },
  };
  const before = tally(subject.rules, record, now).signatureStatus;
  const after = tally(subject.rules, voted.record, now).signatureStatus;
  const entry = approvalEntry(subject, record, 'signed', memberActor(member), {
    type,
    ...(reason === undefined ? {} : { reason }),
    signatureStatus: { before, after },
    ...credentialDetail(credentialId),
  });
  const along = [
    insertMessage(tx, id, messageId, 'sign'),
    insertVote(tx, id, { ...vote, reason: reason ?? null, credentialId }),
  ];
  const state = await changeApproval(tx, subject, voted, {}, [entry], along);
  failpoint('worker.voteStored');
  return { ok: true, state };
}

/** Records a vote after verifying its signature and its voter's eligibility. Idempotent. */
export async function recordVote<V extends AnySnapshot, S extends ApprovalState>(
  deps: Pick<ApprovalDeps, 'db' | 'identifyVoter'>,
  subject: ApprovalSubject<V, S>,
  input: VoteInput,
): Promise<MessageResult<S>> {
  return catchRefusal(async () => {
    for (;;) {
      const seen = await subject.read(deps.db, input);
      if (!seen) return { ok: false, refusal: approvalNotFound(subject.rules.subject, input.id) };
      if (seen.messageTaken) return { ok: true, state: subject.state(seen) };
      const verified = await identifySignatory(deps, subject, seen, input);
      if (!verified.ok) return verified;
      const recorded = await deps.db.transaction((tx) => storeVote(tx, subject, input, verified.value));
      if (recorded) return recorded;
      // Who may vote, or what is signed, has changed between the verification and the lock.
    }
  });
}
