import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import { type ExpectedVersion, guardVersion } from '../../src/db/approvalLocks';
import { type ApprovalChange, updateApproval } from '../../src/db/approvals';
import { type AuditInput, auditStatements } from '../../src/db/audit';
import type { Db, Tx } from '../../src/db/database';
import type { MessageKey } from '../../src/db/receivedMessages';
import type { Statement } from '../../src/db/rows';
import type { ApprovalKey } from '../../src/domain/approvalRef';
import type { ApprovalState } from '../../src/domain/approvalState';
import type { Seen } from './executableSubject';
import { Rollback } from './refusals';

/** The refusal of a message to an approval that does not exist. */
export function approvalNotFound(subject: string, id: string) {
  return { code: 'notFound', message: `${subject} ${id} not found in this organization` } as const;
}

/** The current state of an approval. Throws Rollback when it does not exist. */
export async function readApprovalState<V extends AnySnapshot, S extends ApprovalState>(
  db: Db | Tx,
  subject: ApprovalSubject<V, S>,
  { organizationId, id }: ApprovalKey,
): Promise<S> {
  const seen = await subject.read(db, { organizationId, id });
  if (!seen) throw new Rollback(approvalNotFound(subject.rules.subject, id));
  return subject.state(seen);
}

/**
 * Changes an approval with the audit entries of the change, and with other statements in the same round trip: a locked one
 * as the last of its transaction, another by itself with what that was based on. Returns its state then.
 */
export async function changeApproval<V extends AnySnapshot, S extends ApprovalState>(
  db: Db | Tx,
  subject: ApprovalSubject<V, S>,
  seen: V,
  change: ApprovalChange,
  entries: readonly AuditInput[],
  {
    batch = [],
    expected,
  }: { readonly batch?: readonly Statement[]; readonly expected?: ExpectedVersion | undefined } = {},
): Promise<S> {
  const { id, organizationId } = seen.record;
  const audit = auditStatements(db, organizationId, entries);
  const changed = await updateApproval(
    db,
    id,
    change,
    [...batch, ...audit],
    expected && guardVersion(db, expected),
  );
  return subject.state({ ...seen, record: { ...seen.record, ...changed } });
}

/** Locks an approval and reads it. Rolls back when it does not exist. */
export async function lockOrRefuse<V extends AnySnapshot, S extends ApprovalState>(
  tx: Tx,
  subject: ApprovalSubject<V, S>,
  key: MessageKey,
  options: { exclusive?: boolean } = {},
): Promise<Seen<V>> {
  const locked = await subject.lock(tx, key, options);
  if (!locked) throw new Rollback(approvalNotFound(subject.rules.subject, key.id));
  return locked;
}
