import type { IncomingMessage } from 'node:http';
import { Refused } from './refusals';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A page of this origin, or the person at the browser. */
const OWN_SITES = new Set(['same-origin', 'none']);

function forbidden(message: string): Refused {
  return new Refused({ code: 'forbidden', message });
}

/**
 * Refuses a request that a page of another origin may have had a browser send: what changes something has to name one of
 * `origins`, which only its own pages can. `Host` is not looked at, for anybody's domain can lead here (DNS rebinding).
 */
export function assertOwnOrigin({ method = '', headers }: IncomingMessage, origins: readonly string[]): void {
  const { origin, 'sec-fetch-site': site } = headers;
  if (typeof site === 'string' && !OWN_SITES.has(site)) {
    throw forbidden(`Sec-Fetch-Site: "${site}" is another site (expected same-origin)`);
  }
  if (origin === undefined) {
    if (SAFE_METHODS.has(method)) return;
    throw forbidden('Origin: is required for a request of a session');
  }
  if (!origins.includes(origin)) {
    throw forbidden(`Origin: "${origin}" is not an origin of this service (expected ${origins.join(', ')})`);
  }
}
