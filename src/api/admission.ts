import type { Request, RequestHandler, Response } from 'express';
import type { Config } from '../config';
import type { Credential } from '../db/credentials';
import type { Db } from '../db/database';
import { callerNetwork, isInRange } from './clientAddress';
import { type Exchange, exchangeOf } from './exchange';
import { assertOwnOrigin } from './origin';
import { createCredentialRateLimiter, createFailureLimiter } from './rateLimit';
import { Refused } from './refusals';
import { sessionToken } from './sessionCookie';

/** Finds whose a secret is; undefined for an invalid one. */
type Authenticate = (secret: string) => Promise<Credential | undefined>;

/** Whose each kind of secret is. */
export interface Authenticators {
  readonly key: Authenticate;
  /** Counts as use of the session. */
  readonly session: Authenticate;
  readonly sessionInBackground: Authenticate;
}

/** Failed authentications per caller: a hundred at once, then two a second. */
const FAILED_AUTHENTICATION = { perSecond: 2, burst: 100 };

/** Sessions that a member begins: thirty at once, then one a minute. Each is an entry of the audit log. */
const SESSION_STARTS = { perSecond: 1 / 60, burst: 30 };

/** Codes and tests that a member has sent: five at once, then one a minute. */
const CODES = { perSecond: 1 / 60, burst: 5 };

/** With the value 1: nobody has asked for this, the page keeps itself up to date. */
const BACKGROUND_HEADER = 'x-orgwallet-background';

/** True for what nobody has asked for: it does not count as use. A browser that listens can send no header of its own. */
function isInBackground({ method, headers }: Request): boolean {
  const listens = (headers.accept ?? '').includes('text/event-stream');
  return method === 'GET' && (headers[BACKGROUND_HEADER] === '1' || listens);
}

const BEARER = /^Bearer +(\S+) *$/i;

/** Who may go on to the endpoints. */
export interface Admission {
  /** Admits requests with a valid API key or session within its rate limit. Refuses the others with 401 or 429. */
  readonly admit: RequestHandler;
  /** The same, for sessions alone. */
  readonly admitSession: RequestHandler;
  /** Counts a nonce that is given to a caller. Refuses with 429. */
  readonly countNonce: (exchange: Exchange) => void;
  /**
   * Counts an attempt to sign in as failed, before any work is done for it. Refuses with 429. Returns what takes it back,
   * once it has not failed.
   */
  readonly countAttempt: (exchange: Exchange) => () => void;
  /** Counts a session that a member begins. Refuses with 429. */
  readonly countSession: (memberId: string) => Promise<void>;
  /** Counts a message that a member has sent at once, to an address that may be anybody's. Refuses with 429. */
  readonly countCode: (memberId: string) => Promise<void>;
}

function tooMany(message: string): Refused {
  return new Refused(
    { code: 'rateLimited', message },
    { headers: { 'Retry-After': String(Math.ceil(1 / FAILED_AUTHENTICATION.perSecond)) } },
  );
}

function unauthorized(message: string): Refused {
  return new Refused({ code: 'unauthorized', message });
}

async function limitRate(
  limit: ReturnType<typeof createCredentialRateLimiter>,
  perSecond: number,
  credential: Credential,
  response: Response,
): Promise<void> {
  // A person may have several sessions.
  const rate = await limit(credential.kind === 'session' ? credential.memberId : credential.id);
  response.setHeader('RateLimit-Limit', rate.limit);
  response.setHeader('RateLimit-Remaining', rate.remaining);
  response.setHeader('RateLimit-Reset', rate.resetSeconds);
  if (!rate.allowed) {
    throw new Refused(
      { code: 'rateLimited', message: `more than ${perSecond} requests per second` },
      { headers: { 'Retry-After': String(rate.retryAfterSeconds) } },
    );
  }
}

/** Whether a key may be used from an address; a session is used from anywhere. */
function isFrom(credential: Credential, client: string): boolean {
  const ranges = credential.kind === 'apiKey' ? credential.rights.addressRanges : null;
  return ranges === null || ranges.some((range) => isInRange(client, range));
}

/** Finds the credential of a request. */
type Identify = (request: Request, exchange: Exchange) => Promise<Credential>;

/** Finds the credentials of requests, and counts their failures. */
function createIdentification(
  authenticate: Authenticators,
  origins: Config['origins'],
  failures: ReturnType<typeof createFailureLimiter>,
): { readonly ofAny: Identify; readonly ofSession: Identify } {
  /** The credential of a secret. Counts its failures. */
  async function identify(
    found: Promise<Credential | undefined> | undefined,
    exchange: Exchange,
    refusal: { readonly tooMany: string; readonly invalid: string },
  ): Promise<Credential> {
    const credential = await found;
    if (credential) return credential;
    if (!failures.count(callerNetwork(exchange.client))) throw tooMany(refusal.tooMany);
    throw unauthorized(refusal.invalid);
  }

  function ofKey(request: Request, exchange: Exchange): Promise<Credential> {
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    return identify(key === undefined ? undefined : authenticate.key(key), exchange, {
      tooMany: 'too many requests without a valid API key',
      invalid: 'the API key is missing or invalid',
    });
  }

  function identifySession(find: Authenticate, request: Request, exchange: Exchange): Promise<Credential> {
    assertOwnOrigin(request, origins);
    const token = sessionToken(request.headers.cookie);
    return identify(token === undefined ? undefined : find(token), exchange, {
      tooMany: 'too many requests without a valid session',
      invalid: 'the session has ended or is unknown: sign in again',
    });
  }

  function ofSession(request: Request, exchange: Exchange): Promise<Credential> {
    const find = isInBackground(request) ? authenticate.sessionInBackground : authenticate.session;
    return identifySession(find, request, exchange);
  }

  /** A key wins: it was given on purpose. */
  function isOfSession({ headers }: Request): boolean {
    return (
      origins.length > 0 && headers.authorization === undefined && sessionToken(headers.cookie) !== undefined
    );
  }

  return {
    ofAny: (request, exchange) => (isOfSession(request) ? ofSession : ofKey)(request, exchange),
    ofSession,
  };
}

/** Makes the admission that all endpoints share. */
export function createAdmission(
  db: Db,
  { rateLimit, origins }: Pick<Config, 'rateLimit' | 'origins'>,
  authenticate: Authenticators,
): Admission {
  const limit = createCredentialRateLimiter(db, rateLimit);
  const failures = createFailureLimiter(FAILED_AUTHENTICATION);
  const nonces = createFailureLimiter(FAILED_AUTHENTICATION);
  const sessionStarts = createCredentialRateLimiter(db, SESSION_STARTS);
  const codes = createCredentialRateLimiter(db, CODES);
  const { ofAny, ofSession } = createIdentification(authenticate, origins, failures);

  /** Refuses a key that is used from elsewhere than its ranges, which counts as a failure: the key may be stolen. */
  function assertFrom(credential: Credential, { client }: Exchange): void {
    if (isFrom(credential, client)) return;
    if (!failures.count(callerNetwork(client)))
      throw tooMany('too many requests with a key that is not for this address');
    throw new Refused({ code: 'forbidden', message: `the API key is not for requests from ${client}` });
  }

  function admitBy(find: Identify): RequestHandler {
    return async (request, response, next) => {
      const exchange = exchangeOf(response);
      const credential = await find(request, exchange);
      exchange.credential = credential;
      assertFrom(credential, exchange);
      await limitRate(limit, rateLimit.perSecond, credential, response);
      next();
    };
  }

  return {
    admit: admitBy(ofAny),
    admitSession: admitBy(ofSession),
    countNonce({ client }) {
      if (!nonces.count(callerNetwork(client))) throw tooMany('too many requests for a nonce');
    },
    countAttempt({ client }) {
      const caller = callerNetwork(client);
      if (!failures.count(caller)) throw tooMany('too many failed requests to sign in');
      return () => failures.takeBack(caller);
    },
    async countCode(memberId) {
      const { allowed, retryAfterSeconds } = await codes(`codes:${memberId}`);
      if (allowed) return;
      throw new Refused(
        { code: 'rateLimited', message: 'this member has sent too many codes and tests' },
        { headers: { 'Retry-After': String(retryAfterSeconds) } },
      );
    },
    async countSession(memberId) {
      const { allowed, retryAfterSeconds } = await sessionStarts(`sessions:${memberId}`);
      if (allowed) return;
      throw new Refused(
        { code: 'rateLimited', message: 'this member has begun too many sessions' },
        { headers: { 'Retry-After': String(retryAfterSeconds) } },
      );
    },
  };
}
