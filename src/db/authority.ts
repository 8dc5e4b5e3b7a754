import type { MemberSummary } from '../domain/approval';
import { isApiKeyId } from '../domain/credential';
import type { Tx } from './database';
import { QUEUE_SHARED } from './lockQueues';
import { queryRows } from './rows';
import { IS_ADMIN, VALID } from './sessionValidity';
import { memberColumn } from './storedApprovals';

/** SQL: whether an API key `k` is valid, as far as its own row says. */
export const KEY_VALID = '(k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()))';

/** The member that acts for a credential. */
export interface ActingMember extends MemberSummary {
  readonly isAdmin: boolean;
}

const actingColumn = (isAdmin: string) =>
  `${memberColumn('m')}::jsonb || jsonb_build_object('isAdmin', ${isAdmin})`;

/**
 * SQL: the member that acts for a credential, and that the audit log names, as one JSON value: of a session its own, of a key
 * its first that is an admin, else its first. Null once the credential is not valid any more.
 */
export const actingMemberColumn = (credentialId: string) => `coalesce(
      (SELECT ${actingColumn(IS_ADMIN)} FROM sessions s JOIN members m ON m.id = s.member_id
      WHERE s.id = ${credentialId} AND ${VALID}),
      (SELECT ${actingColumn('a.member_id IS NOT NULL')}
      FROM api_keys k JOIN api_key_members p ON p.api_key_id = k.id JOIN members m ON m.id = p.member_id
      LEFT JOIN admin_set_members a ON a.organization_id = m.organization_id AND a.member_id = m.id
      WHERE k.id = ${credentialId} AND ${KEY_VALID} AND m.removed_at IS NULL AND m.type = 'api'
      ORDER BY a.member_id IS NULL, p.place LIMIT 1))`;

/** Where a credential is stored, and the column that says that it has been ended. */
function placeOf(credentialId: string): { readonly table: string; readonly ended: string } {
  return isApiKeyId(credentialId)
    ? { table: 'api_keys', ended: 'revoked_at' }
    : { table: 'sessions', ended: 'ended_at' };
}

/**
 * Parts of a statement that has no row once a credential is ended, and else keeps it from being ended before the commit. The
 * queue of the credential is shared before it.
 */
interface HeldCredential {
  readonly join: string;
  readonly bindings: readonly string[];
  readonly lock: string;
}

/**
 * Holds a credential in a statement. That its members are the same, and still admins, is compared by the decisions of their
 * organization, and its expiry was when it was read. Null: what is done needs none.
 */
export function heldCredential(credentialId: string | null): HeldCredential {
  if (credentialId === null) return { join: '', bindings: [], lock: '' };
  const { table, ended } = placeOf(credentialId);
  return {
    join: `JOIN ${table} credential ON credential.id = ? AND credential.${ended} IS NULL`,
    bindings: [credentialId],
    lock: 'FOR SHARE OF credential',
  };
}

/**
 * Holds a credential until the end of a transaction that keeps members from changing. Returns who acts for it; undefined once
 * it is not valid any more.
 */
export async function holdCredential(tx: Tx, credentialId: string): Promise<ActingMember | undefined> {
  const { table, ended } = placeOf(credentialId);
  const [held] = await queryRows<{ acting: ActingMember | null }>(
    tx,
    `WITH queued AS MATERIALIZED (SELECT ${QUEUE_SHARED}(?))
    SELECT ${actingMemberColumn('c.id')} AS acting FROM queued CROSS JOIN ${table} c
    WHERE c.id = ? AND c.${ended} IS NULL FOR SHARE OF c`,
    [credentialId, credentialId],
  );
  return held?.acting ?? undefined;
}
