import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/approvalSubject';
import type { AuditInput } from '../../src/db/audit';
import type { MessageOrigin } from '../../src/db/receivedMessages';
import { type Actor, memberActor, OPERATOR, SYSTEM } from '../../src/domain/actor';
import type { MemberSummary } from '../../src/domain/approval';
import type { ApprovalState } from '../../src/domain/approvalState';
import type { JsonValue } from '../../src/domain/canonicalJson';
import type { ApprovalVerb } from '../../src/domain/eventTypes';

/** The audit entry of a change of an approval. */
export function approvalEntry<V extends AnySnapshot, S extends ApprovalState>(
  { rules, about }: ApprovalSubject<V, S>,
  record: V['record'],
  verb: ApprovalVerb,
  actor: Actor,
  details: { readonly [key: string]: JsonValue } = {},
): AuditInput {
  return {
    action: `${rules.subject}.${verb}`,
    actor,
    resourceType: rules.subject,
    resourceId: record.id,
    details: { ...about(record), ...details },
  };
}

/** The actor of a request: `member` acts for its API key or session. */
export function credentialActor(credentialId: string, member: MemberSummary | null): Actor {
  return member ? memberActor(member) : { ...SYSTEM, id: credentialId };
}

/** The actor of a message: the operator or the service where it names one, else the member of its credential. */
export function messageActor(
  actor: 'operator' | 'system' | undefined,
  { credentialId, actingMember }: MessageOrigin,
): Actor {
  if (actor === 'system') return SYSTEM;
  return actor === 'operator' || credentialId === null
    ? OPERATOR
    : credentialActor(credentialId, actingMember);
}
