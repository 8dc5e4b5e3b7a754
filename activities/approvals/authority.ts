import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import type { MessageOrigin } from '../../src/db/receivedMessages';
import type { ApprovalState } from '../../src/domain/approvalState';
import { checkAuthority, requestNotStored } from '../../src/domain/credential';
import type { Refusal } from '../../src/domain/refusal';
import type { ApprovalDeps, MessageInput } from './executableSubject';
import { Rollback } from './refusals';

/** What requests an effect; what has no credential and lacks no request comes from an operator. */
type Requester = Pick<MessageOrigin, 'credentialId' | 'actingMember'> &
  Partial<Pick<MessageOrigin, 'lacksRequest'>>;

function refusalOf(
  { needsAdmin }: Pick<ApprovalSubject<AnySnapshot, ApprovalState>, 'needsAdmin'>,
  { credentialId, actingMember, lacksRequest }: Requester,
): Refusal | null {
  if (lacksRequest) return requestNotStored();
  return credentialId === null ? null : checkAuthority(credentialId, actingMember, needsAdmin);
}

/**
 * Throws Rollback when the credential of a request is not valid any more, or does not belong to an admin where it must, or when
 * the request is not stored. The
 * statement that writes the effect then holds the credential: see `guardVersion`.
 */
export function assertAuthority(subject: { readonly needsAdmin: boolean }, requester: Requester): void {
  const refusal = refusalOf(subject, requester);
  if (refusal) throw new Rollback(refusal);
}

/** The refusal that `assertAuthority` would throw for a message, or null: for what has to be done before its effect. */
export async function readAuthority<V extends AnySnapshot, S extends ApprovalState>(
  { db }: Pick<ApprovalDeps, 'db'>,
  subject: ApprovalSubject<V, S>,
  input: MessageInput,
): Promise<Refusal | null> {
  const seen = await subject.read(db, input);
  return seen && !seen.messageTaken ? refusalOf(subject, seen) : null;
}
