import type { AnySnapshot, ApprovalSubject } from '../approvals/approvalSubject';
import { proposalSubject } from '../approvals/proposalSubject';
import { transactionSubject } from '../approvals/transactionSubject';
import type { Db } from '../db/database';
import { type ApprovalState, shownFailure } from '../domain/approvalState';
import { missingVotes } from '../domain/missingVotes';
import type { RequestNow } from './requestNotice';

type Key = { readonly organizationId: string; readonly id: string };

async function readNow<V extends AnySnapshot, S extends ApprovalState>(
  db: Db,
  subject: ApprovalSubject<V, S>,
  key: Key,
): Promise<RequestNow | undefined> {
  const snapshot = await subject.read(db, key);
  if (!snapshot) return undefined;
  const { record, now } = snapshot;
  const { id, summary, expiresAt, closed, waitingFor, votes } = record;
  const initiator = subject.rules.initiatorOf?.(record);
  return {
    ...{ id, summary, expiresAt, closed, waitingFor },
    missing: missingVotes(subject.rules, record, now),
    failure: shownFailure(subject.rules, record, now).failure ?? null,
    involved: new Set([...votes.map(({ memberId }) => memberId), ...(initiator ? [initiator.id] : [])]),
  };
}

/** A proposal or transaction as it is now; undefined where there is none. */
export function readRequest(db: Db, subject: string, key: Key): Promise<RequestNow | undefined> {
  return subject === 'proposal' ? readNow(db, proposalSubject, key) : readNow(db, transactionSubject, key);
}
