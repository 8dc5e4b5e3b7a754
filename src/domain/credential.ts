import type { Refusal } from './refusal';

/** True for the id of an API key; other credentials are sessions of people. */
export function isApiKeyId(id: string): boolean {
  return id.startsWith('key_');
}

/** The refusal of what only admins may request. */
export function requiresAdmin(credentialId: string): Refusal {
  const expected = isApiKeyId(credentialId)
    ? 'the API key of an admin of type api'
    : 'the session of an admin';
  return { code: 'forbidden', message: `requires ${expected}` };
}

/** The refusal of a request whose credential has ended before it took effect. */
export function credentialEnded(credentialId: string): Refusal {
  const message = isApiKeyId(credentialId)
    ? 'the API key was revoked or expired before the request took effect'
    : 'the session ended before the request took effect: sign in again';
  return { code: 'unauthorized', message };
}

/**
 * The refusal of a message that names a request, where none is stored: nobody is known to have been entitled to it. The same
 * request, sent again, is stored anew.
 */
export function requestNotStored(): Refusal {
  return {
    code: 'internalError',
    message: 'the database has lost this request; send the same request again',
  };
}

/**
 * Why a credential may not request any more what it has requested; null when it may. `actingMember`: who acts for it now,
 * null when it is not valid any more.
 */
export function checkAuthority(
  credentialId: string,
  actingMember: { readonly isAdmin: boolean } | null,
  needsAdmin: boolean,
): Refusal | null {
  if (actingMember === null) return credentialEnded(credentialId);
  return needsAdmin && !actingMember.isAdmin ? requiresAdmin(credentialId) : null;
}

/** What requested or delivered something, in the details of audit entries and in logs. */
export function credentialDetail(id: string | null): { apiKeyId?: string; sessionId?: string } {
  if (id === null) return {};
  return isApiKeyId(id) ? { apiKeyId: id } : { sessionId: id };
}
