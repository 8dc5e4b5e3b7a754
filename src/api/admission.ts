import type { Request, RequestHandler, Response } from 'express';
import type { Config } from '../config';
import type { AuthenticatedKey } from '../db/apiKeys';
import type { Db } from '../db/database';
import { callerNetwork } from './clientAddress';
import { type Exchange, exchangeOf } from './exchange';
import { createFailureLimiter, createKeyRateLimiter, type FailureLimiter } from './rateLimit';
import { Refused } from './refusals';

/** Authenticates an API key; undefined for an invalid one. */
export type Authenticate = (key: string) => Promise<AuthenticatedKey | undefined>;

/** Failed authentications per caller: a hundred at once, then two a second. */
const FAILED_AUTHENTICATION = { perSecond: 2, burst: 100 };

const BEARER = /^Bearer +(\S+) *$/i;

async function identify(
  authenticate: Authenticate,
  failures: FailureLimiter,
  request: Request,
  exchange: Exchange,
): Promise<AuthenticatedKey> {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const key = token === undefined ? undefined : await authenticate(token);
  if (key) return key;
  if (!failures.count(callerNetwork(exchange.client))) {
    throw new Refused(
      { code: 'rateLimited', message: 'too many requests without a valid API key' },
      { headers: { 'Retry-After': String(Math.ceil(1 / FAILED_AUTHENTICATION.perSecond)) } },
    );
  }
  throw new Refused(
    { code: 'unauthorized', message: 'the API key is missing or invalid' },
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}

async function limitRate(
  limit: ReturnType<typeof createKeyRateLimiter>,
  perSecond: number,
  key: AuthenticatedKey,
  response: Response,
): Promise<void> {
  const rate = await limit(key.apiKeyId);
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

/** Admits requests with a valid API key within its rate limit. Refuses the others with 401 or 429. */
export function admitKeys(
  db: Db,
  rateLimit: Config['rateLimit'],
  authenticate: Authenticate,
): RequestHandler {
  const limit = createKeyRateLimiter(db, rateLimit);
  const failures = createFailureLimiter(FAILED_AUTHENTICATION);
  return async (request, response, next) => {
    const exchange = exchangeOf(response);
    const key = await identify(authenticate, failures, request, exchange);
    exchange.key = key;
    exchange.log = exchange.log.child({ organizationId: key.organizationId, apiKeyId: key.apiKeyId });
    await limitRate(limit, rateLimit.perSecond, key, response);
    next();
  };
}
