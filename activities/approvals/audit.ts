import type { AnySnapshot, ApprovalSubject } from '../../src/approvals/subject';
import type { MessageOrigin } from '../../src/db/approvals';
import { type AuditInput, OPERATOR, SYSTEM } from '../../src/db/audit';
import type { Actor } from '../../src/domain/actor';
import type { ApprovalState, MemberSummary } from '../../src/domain/approval';
import type { JsonValue } from '../../src/domain/canonicalJson';

/** The audit entry of a change of an approval. */
export function approvalEntry<V extends AnySnapshot, S extends ApprovalState>(
  { rules, about }: ApprovalSubject<V, S>,
  record: V['record'],
  verb: string,
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

/** A member as an actor. */
export function memberActor({ id, name, walletAddress }: MemberSummary): Actor {
  return { type: 'member', id, name, walletAddress };
}

/** The actor of a request that came with an API key: `member` acts for it, while one of its members is left. */
export function apiKeyActor(apiKeyId: string, member: MemberSummary | null): Actor {
  return member ? memberActor(member) : { ...SYSTEM, id: apiKeyId };
}

/** The actor of a message: the operator or the service where it names one, else the member of the API key. */
export function messageActor(
  actor: 'operator' | 'system' | undefined,
  { apiKeyId, keyMember }: MessageOrigin,
): Actor {
  if (actor === 'system') return SYSTEM;
  return actor === 'operator' || apiKeyId === null ? OPERATOR : apiKeyActor(apiKeyId, keyMember);
}

/** The API key in an audit entry's details, when there is one. */
export function withKey(apiKeyId: string | null): { apiKeyId?: string } {
  return apiKeyId === null ? {} : { apiKeyId };
}
