import { SESSION_COOKIE } from '../contract/sessionContract';
import { SESSION_SECONDS } from '../domain/session';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** The token in a `Cookie` header; undefined without one, or with several. Source: RFC 6265, section 4.2.1. */
export function sessionToken(header: string | undefined): string | undefined {
  const tokens = (header ?? '').split(';').flatMap((pair) => {
    const [name, value] = pair.trim().split('=');
    return name === SESSION_COOKIE && value ? [value] : [];
  });
  return tokens.length === 1 ? tokens[0] : undefined;
}

/** The `Set-Cookie` header that gives a browser a session. */
export function sessionCookie(token: string): string {
  return `${SESSION_COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_SECONDS}`;
}

/** The `Set-Cookie` header that clears it. */
export const CLEARED_COOKIE = `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
