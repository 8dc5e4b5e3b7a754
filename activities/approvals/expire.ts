import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import { releaseClaims } from '../../src/db/claims';
import { SYSTEM } from '../../src/domain/actor';
import { isExpired, type Tally } from '../../src/domain/approval';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import { type ApprovalState, tally } from '../../src/domain/approvalState';
import { approvalEntry } from './approvalEntry';
import type { ApprovalDeps } from './executableSubject';
import { changeApproval, lockOrRefuse } from './read';

/** Expires an approval that is past its expiry by the database's clock. Changes nothing before its expiry or after its closing. */
export async function expireApproval<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  key: ApprovalKey,
): Promise<S> {
  return db.transaction(async (tx) => {
    const seen = await lockOrRefuse(tx, subject, { organizationId: key.organizationId, id: key.id });
    const { record, now } = seen;
    const isUnchanged =
      record.closed ||
      record.finalTally !== null ||
      record.executionStatus === 'processing' ||
      !isExpired(record, now.time);
    if (isUnchanged) return subject.state(seen);
    const expired: Tally = { ...tally(subject.rules, record, now), signatureStatus: 'expired' };
    const ended = subject.rules.isFinishable(record) ? { finalTally: expired } : { closedWith: expired };
    const expiresAt = record.expiresAt.toISOString();
    const entry = approvalEntry(subject, record, 'expired', SYSTEM, { expiresAt });
    const batch = [releaseClaims(tx, record.id)];
    return changeApproval(tx, subject, seen, { expired: true, ...ended }, [entry], { batch });
  });
}
