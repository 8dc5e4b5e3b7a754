import type { AnySnapshot } from '../../src/approvals/approvalSubject';
import { signatureHash } from '../../src/approvals/verifiedVotes';
import { identifySignatory } from '../../src/approvals/voters';
import type { Voter } from '../../src/chain/voter';
import { undefinedOnConflict } from '../../src/db/approvalLocks';
import { insertMessage } from '../../src/db/receivedMessages';
import type { StoredVote } from '../../src/db/storedApprovals';
import { insertVote } from '../../src/db/votes';
import { memberActor } from '../../src/domain/actor';
import type { MemberSummary, Note, VoteType } from '../../src/domain/approval';
import { type ApprovalState, tally } from '../../src/domain/approvalState';
import { credentialDetail } from '../../src/domain/credential';
import { quoted } from '../../src/domain/quoted';
import { checkVote } from '../../src/domain/voting';
import { walletText } from '../../src/domain/wallet';
import { failpoint } from '../../src/failpoints';
import { executionMessageId } from '../../src/temporal/ids';
import type { MessageResult, SignMessage } from '../../src/temporal/messages';
import { retryOnConflict } from '../retryOnConflict';
import { approvalEntry } from './approvalEntry';
import { assertAuthority } from './authority';
import { beginWithVote } from './begin';
import type { ApprovalDeps, ExecutableSubject, MessageInput, Seen } from './executableSubject';
import { approvalNotFound, changeApproval } from './read';
import { catchRefusal, Rollback } from './refusals';

/** A vote, from the workflow. */
export type VoteInput = MessageInput & SignMessage;

/** Says that a signature takes the place of one that its wallet does not accept any more. */
function replacedNote(time: Date, member: MemberSummary, type: VoteType): Note {
  const bound = type === 'initiator' ? ': approvals and rejections have to be signed again' : '';
  return {
    at: time.toISOString(),
    code: 'signatureReplaced',
    message: `${quoted(member.name)} (${member.id}) has signed again, because ${walletText(member)} does not accept the earlier signature any more${bound}`,
  };
}

/**
 * Stores a verified vote and, where it asks for the execution of an approval, begins that. Undefined, with nothing written,
 * where what the vote was verified against has changed. Throws Rollback.
 */
async function storeVote<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalDeps,
  subject: ExecutableSubject<V, S>,
  input: VoteInput,
  { seen, member, replaced, ...verified }: Voter & { readonly seen: Seen<V>; readonly replaced?: StoredVote },
): Promise<MessageResult<S> | undefined> {
  const { db } = deps;
  const { id, messageId, type, signature, reason, execute } = input;
  const { record, now, credentialId } = seen;
  const allowed = checkVote(subject.rules, record, now, { member, type, execute });
  if (!allowed.ok) throw new Rollback(allowed.refusal);
  if (allowed.value === 'repeated') {
    await insertMessage(db, id, messageId, 'sign');
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
  const notes = replaced && [...record.notes, replacedNote(now.time, member, type)];
  const before = tally(subject.rules, record, now).signatureStatus;
  const after = tally(subject.rules, voted.record, now).signatureStatus;
  const entry = approvalEntry(subject, record, 'signed', memberActor(member), {
    type,
    ...(reason === undefined ? {} : { reason }),
    ...(replaced ? { replaces: replaced.signatureHash } : {}),
    signatureStatus: { before, after },
    ...credentialDetail(credentialId),
  });
  const batch = [
    insertMessage(db, id, messageId, 'sign'),
    insertVote(db, id, { ...vote, reason: reason ?? null, credentialId }),
  ];
  // Only an approval: the signer records the rejection of a transaction before its execution begins.
  if (execute === true && type !== 'reject') {
    const { organizationId, requestId } = input;
    const key = { organizationId, id, requestId, messageId: executionMessageId(messageId) };
    const asked = { ...key, type: 'approve' as const };
    const started = await beginWithVote(
      { deps, subject, input: asked, vote: { batch, entry, notes } },
      voted,
    );
    if (started !== 'notStarted') return started;
  }
  const state = await undefinedOnConflict(() =>
    changeApproval(db, subject, voted, notes ? { notes } : {}, [entry], { batch, expected: seen }),
  );
  if (!state) return undefined;
  failpoint('worker.voteStored');
  return { ok: true, state };
}

/**
 * Records a vote after verifying its signature and its voter's eligibility. With `execute`, the execution of an approval
 * whose threshold is met begins in the same database transaction. Writes nothing where the approval, or what the admins have
 * decided, has changed since it was verified: then it decides again. Idempotent.
 */
export async function recordVote<V extends AnySnapshot, S extends ApprovalState>(
  deps: ApprovalDeps,
  subject: ExecutableSubject<V, S>,
  input: VoteInput,
): Promise<MessageResult<S>> {
  return catchRefusal(() =>
    retryOnConflict(async (): Promise<MessageResult<S> | undefined> => {
      const seen = await subject.read(deps.db, input);
      if (!seen) return { ok: false, refusal: approvalNotFound(subject.rules.subject, input.id) };
      if (seen.messageTaken) return { ok: true, state: subject.state(seen) };
      assertAuthority(subject, seen);
      const verified = await identifySignatory(deps, subject, seen, input);
      if (!verified.ok) return verified;
      return storeVote(deps, subject, input, verified.value);
    }),
  );
}
