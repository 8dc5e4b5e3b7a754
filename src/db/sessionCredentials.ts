import { timingSafeEqual } from 'node:crypto';
import { type CredentialMember, type SessionCredential, secretHash } from './credentials';
import type { Db } from './database';
import { queryNumbered } from './rows';
import { IS_ADMIN, VALID } from './sessionValidity';
import type { SessionRow } from './tables';

const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** What `SESSIONS_BY_HASH` reads. */
interface SessionByHash extends Pick<SessionRow, 'id' | 'organization_id' | 'token_hash' | 'expires_at'> {
  readonly member: CredentialMember;
}

const SESSIONS_BY_HASH = `SELECT s.id, s.organization_id, s.token_hash, s.expires_at, json_build_object(
      'id', m.id, 'name', m.name, 'walletAddress', m.wallet_address, 'isAdmin', ${IS_ADMIN}) AS member
    FROM sessions s JOIN members m ON m.id = s.member_id
    WHERE s.token_hash = ANY($1) AND ${VALID}`;

/** The same, which counts as use. One that an effect of its own holds counts with a later request: nobody waits for it here. */
const USED_SESSIONS_BY_HASH = `WITH used AS (
      UPDATE sessions s SET last_used_at = now() WHERE s.id IN (
        SELECT s.id FROM sessions s JOIN members m ON m.id = s.member_id
        WHERE s.token_hash = ANY($1) AND ${VALID} AND s.last_used_at < now() - interval '1 minute'
        FOR NO KEY UPDATE OF s SKIP LOCKED)
    )
    ${SESSIONS_BY_HASH}`;

/**
 * Whose sessions the tokens are. A token that is malformed, unknown or of a session that is over is not in the result.
 * `countsAsUse`: they end so much later.
 */
export async function authenticateSessions(
  db: Db,
  tokens: readonly string[],
  { countsAsUse }: { readonly countsAsUse: boolean },
): Promise<ReadonlyMap<string, SessionCredential>> {
  const wellShaped = tokens.filter((token) => TOKEN_SHAPE.test(token));
  if (wellShaped.length === 0) return new Map();
  const hashes = wellShaped.map(secretHash);
  const rows = await queryNumbered<SessionByHash>(
    db,
    countsAsUse ? USED_SESSIONS_BY_HASH : SESSIONS_BY_HASH,
    [hashes],
  );
  const authenticated = new Map<string, SessionCredential>();
  for (const { id, organization_id: organizationId, token_hash, expires_at: expiresAt, member } of rows) {
    const token = wellShaped[hashes.findIndex((hash) => timingSafeEqual(token_hash, hash))];
    if (token === undefined) continue;
    authenticated.set(token, {
      kind: 'session',
      id,
      organizationId,
      expiresAt,
      members: [member],
      memberId: member.id,
    });
  }
  return authenticated;
}
