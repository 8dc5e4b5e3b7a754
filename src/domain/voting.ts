import {
  type ApprovalContext,
  type ApprovalRecord,
  type ApprovalRules,
  checkExecution,
  countedVoters,
  type Decision,
  isExpired,
  type MemberSummary,
  refuseDecided,
  refuseExpired,
  type Subject,
  type VoteType,
} from './approval';
import { accept, type Result, refuse } from './refusal';

/** The decision that a vote counts for. */
export function decisionOfVote(type: VoteType): Decision {
  return type === 'reject' ? 'reject' : 'approve';
}

/** Whether signatures can be collected now. Refuses with conflict or proposalExpired. */
export function checkOpen(subject: Subject, record: ApprovalRecord, time: Date): Result<null> {
  const decided = refuseDecided(subject, record);
  if (decided) return { ok: false, refusal: decided };
  if (record.closed || isExpired(record, time)) {
    return { ok: false, refusal: refuseExpired(subject, record) };
  }
  return accept(null);
}

/** Whether a vote of that type can be cast now. Refuses with conflict or proposalExpired. */
export function checkOpenToVotes<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  type: VoteType,
): Result<null> {
  const open = checkOpen(rules.subject, record, now.time);
  if (!open.ok) return open;
  if (type !== 'initiator' && !rules.isInitiated(record, now)) {
    return refuse('conflict', `${rules.subject} ${record.id} waits for the signature of its initiator first`);
  }
  return accept(null);
}

/** The vote of an eligible member. */
interface VoteRequest {
  readonly member: Pick<MemberSummary, 'id'>;
  readonly type: VoteType;
  /** Execute its decision too, if its threshold is met. */
  readonly execute?: boolean | undefined;
}

/**
 * Whether a vote of an eligible member can be recorded now. `repeated`: the member has already cast it, and it is
 * accepted only because its decision can be executed. Refuses with conflict or proposalExpired.
 */
export function checkVote<R extends ApprovalRecord, N extends ApprovalContext>(
  rules: ApprovalRules<R, N>,
  record: R,
  now: N,
  { member, type, execute }: VoteRequest,
): Result<'new' | 'repeated'> {
  const open = checkOpenToVotes(rules, record, now, type);
  if (!open.ok) return open;
  const isRepeated = countedVoters(rules, record, now, type).some(({ id }) => id === member.id);
  if (!isRepeated) return accept('new');
  if (execute === true && checkExecution(rules, record, now, decisionOfVote(type)).ok) {
    return accept('repeated');
  }
  const what = type === 'initiator' ? 'signed' : `signed to ${type}`;
  return refuse('conflict', `member ${member.id} has already ${what} ${rules.subject} ${record.id}`);
}
