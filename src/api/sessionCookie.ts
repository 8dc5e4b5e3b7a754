import { BROWSER_COOKIE, SESSION_COOKIE } from '../contract/sessionContract';
import { BROWSER_SECONDS, SESSION_SECONDS } from '../domain/session';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** The value of a cookie in a `Cookie` header; undefined without one, or with several. Source: RFC 6265, section 4.2.1. */
function cookieIn(header: string | undefined, cookie: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [name, value] = pair.trim().split('=');
    return name === cookie && value ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/** The token of a session in a `Cookie` header; undefined without one. */
export function sessionToken(header: string | undefined): string | undefined {
  return cookieIn(header, SESSION_COOKIE);
}

/** What a browser is recognized by, from a `Cookie` header; undefined without one that this service has given. */
export function browserToken(header: string | undefined): string | undefined {
  const token = cookieIn(header, BROWSER_COOKIE);
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** The `Set-Cookie` header that gives a browser a session. */
export function sessionCookie(token: string): string {
  return `${SESSION_COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_SECONDS}`;
}

/** The `Set-Cookie` header by which a browser is recognized later. */
export function browserCookie(token: string): string {
  return `${BROWSER_COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${BROWSER_SECONDS}`;
}

/** The `Set-Cookie` header that clears a session. */
export const CLEARED_COOKIE = `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
