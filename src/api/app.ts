import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express';
import { BASE_PATH, type Endpoint } from '../contract/endpoint';
import { isId } from '../contract/primitives';
import type { AuthenticatedKey } from '../db/apiKeys';
import type { JsonValue } from '../domain/canonicalJson';
import { readJsonBody } from './body';
import type { RequestContext, Route } from './context';
import type { ApiDependencies } from './dependencies';
import { docsRoutes } from './docs';
import { beginExchange, type Exchange, exchangeOf, refusalOf, sendJson, sendRefusal } from './exchange';
import type { Idempotency } from './idempotency';
import { parseQuery, parseWith } from './query';
import { createFailureLimiter, createKeyRateLimiter } from './rateLimit';
import { badRequest, notFound, Refused } from './refusals';
import { callerNetwork, type Transport } from './transport';

/** Failed authentications per caller: a hundred at once, then two a second. */
const FAILED_AUTHENTICATION = { perSecond: 2, burst: 100 };

const BEARER = /^Bearer +(\S+) *$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The refusal of everything that comes without TLS. */
function upgradeRequired(): Refused {
  return new Refused(
    { code: 'upgradeRequired', message: 'plain HTTP is not served here: use HTTPS' },
    { headers: { Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade' } },
  );
}

function allowOf(methods: readonly string[]): string {
  const all = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return [...new Set([...all, 'OPTIONS'])].join(', ');
}

/** Answers OPTIONS with what is allowed, and any other method with 404 and the same. */
function otherMethods(methods: readonly string[]): RequestHandler {
  const allow = allowOf(methods);
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      response.statusCode = 204;
      response.end();
      return;
    }
    throw notFound(`operation: ${request.method} is not allowed on this path`);
  };
}

/** Refuses a path whose ids do not have the shape of their kind. */
function checkParams(endpoint: Endpoint, params: Request['params']): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(endpoint.params).map(([name, prefix]) => {
      const value = params[name];
      if (typeof value !== 'string' || !isId(prefix, value))
        throw notFound(name === 'txId' ? 'transaction' : name.replace(/Id$/, ''));
      return [name, value];
    }),
  );
}

function idempotencyKey(request: Request): string {
  const key = request.headers['x-idempotency-key'];
  if (typeof key !== 'string') throw badRequest([{ field: 'X-Idempotency-Key', message: 'is required' }]);
  const lower = key.toLowerCase();
  if (!UUID.test(lower)) throw badRequest([{ field: 'X-Idempotency-Key', message: 'must be a UUID' }]);
  return lower;
}

function requireAccess(endpoint: Endpoint, key: AuthenticatedKey): void {
  if (endpoint.access === 'admin' && !key.members.some((member) => member.isAdmin)) {
    throw new Refused({ code: 'forbidden', message: 'this needs a key of an admin of type api' });
  }
}

/** The Express application: every check that all endpoints share, in the one order that is promised. */
export function createApp(
  options: Pick<ApiDependencies, 'config' | 'db' | 'logger' | 'metrics'> & {
    routes: readonly Route[];
    idempotency: Idempotency;
    /** Who a key is; undefined for one that is not valid. */
    authenticate: (key: string) => Promise<AuthenticatedKey | undefined>;
    transportOf: (request: Request) => Transport;
    /** True once the server stops. */
    stopping: () => boolean;
  },
): Express {
  const { config, db, logger, metrics, routes, idempotency, authenticate, transportOf, stopping } = options;
  const limitKey = createKeyRateLimiter(db, config.rateLimit);
  const failures = createFailureLimiter(FAILED_AUTHENTICATION);

  async function identify(request: Request, exchange: Exchange): Promise<AuthenticatedKey> {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const key = token === undefined ? undefined : await authenticate(token);
    if (key) return key;
    if (!failures.count(callerNetwork(exchange.transport.clientAddress))) {
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

  async function admit(request: Request, response: Response): Promise<void> {
    const exchange = exchangeOf(response);
    const key = await identify(request, exchange);
    exchange.key = key;
    exchange.log = exchange.log.child({ organizationId: key.organizationId, apiKeyId: key.apiKeyId });
    const rate = await limitKey(key.apiKeyId);
    response.setHeader('RateLimit-Limit', rate.limit);
    response.setHeader('RateLimit-Remaining', rate.remaining);
    response.setHeader('RateLimit-Reset', rate.resetSeconds);
    if (!rate.allowed) {
      throw new Refused(
        { code: 'rateLimited', message: `more than ${config.rateLimit.perSecond} requests per second` },
        { headers: { 'Retry-After': String(rate.retryAfterSeconds) } },
      );
    }
  }

  function checkResponse(endpoint: Endpoint, body: unknown): void {
    if (config.production) return;
    const checked = endpoint.response.safeParse(body);
    if (!checked.success) {
      throw new Error(`the response of ${endpoint.id} is not as declared: ${checked.error.message}`);
    }
  }

  function contextOf(exchange: Exchange, key: AuthenticatedKey) {
    const { requestId, log } = exchange;
    return { requestId, key, organizationId: key.organizationId, log };
  }

  async function runRead(
    { endpoint, read }: Extract<Route, { read: unknown }>,
    request: Request,
    response: Response,
    key: AuthenticatedKey,
  ): Promise<void> {
    const query = parseQuery(endpoint.query, request.originalUrl);
    requireAccess(endpoint, key);
    const params = checkParams(endpoint, request.params);
    const context: RequestContext = {
      ...contextOf(exchangeOf(response), key),
      params,
      query,
      body: undefined,
    };
    const body = await read(context);
    checkResponse(endpoint, body);
    sendJson(request, response, endpoint.status, JSON.stringify(body));
  }

  /** What every POST says, dry run or not. */
  async function readPost(endpoint: Endpoint, request: Request) {
    const idempotencyId = idempotencyKey(request);
    const sentBody = await readJsonBody(request);
    const query = parseQuery(endpoint.query, request.originalUrl);
    const body = endpoint.body ? parseWith(endpoint.body, sentBody) : sentBody;
    return { idempotencyId, sentBody, query, body };
  }

  async function runDryRun(
    { endpoint, dryRun }: Extract<Route, { dryRun: unknown }>,
    request: Request,
    response: Response,
    key: AuthenticatedKey,
  ): Promise<void> {
    const { query, body } = await readPost(endpoint, request);
    requireAccess(endpoint, key);
    const params = checkParams(endpoint, request.params);
    const answer = await dryRun({ ...contextOf(exchangeOf(response), key), params, query, body });
    checkResponse(endpoint, answer);
    sendJson(request, response, endpoint.status, JSON.stringify(answer));
  }

  async function runMutation(
    { endpoint, mutation }: Extract<Route, { mutation: unknown }>,
    request: Request,
    response: Response,
    key: AuthenticatedKey,
  ): Promise<void> {
    const exchange = exchangeOf(response);
    const { idempotencyId, sentBody, query, body } = await readPost(endpoint, request);
    const context = (): RequestContext => ({
      ...contextOf(exchange, key),
      params: checkParams(endpoint, request.params),
      query,
      body,
    });
    const answer = await idempotency.run(
      {
        organizationId: key.organizationId,
        apiKeyId: key.apiKeyId,
        key: idempotencyId,
        method: request.method,
        path: request.originalUrl.split('?')[0] ?? '',
        sentBody,
        body: body as JsonValue,
      },
      {
        authorize: async () => requireAccess(endpoint, key),
        prepare: () => mutation.prepare(context()),
        send: async (sent) => {
          exchange.resourceId = sent.resourceId;
          const made = await mutation.send(context(), sent);
          checkResponse(endpoint, made.body);
          const location = made.location ?? null;
          return { status: endpoint.status, body: JSON.stringify(made.body), location };
        },
      },
      exchange.deadlineMs,
    );
    if (response.headersSent) return;
    if (answer.replayed) response.setHeader('Idempotency-Replayed', 'true');
    if (answer.location !== null) response.setHeader('Location', answer.location);
    sendJson(request, response, answer.status, answer.body);
  }

  function handlerOf(route: Route): RequestHandler {
    return async (request, response) => {
      const exchange = exchangeOf(response);
      exchange.route = `${BASE_PATH}${route.endpoint.path}`;
      const { key } = exchange;
      if (!key) throw new Error('a request reached its handler without a key');
      const { proposalId, txId: transactionId } = request.params;
      const about = { ...(proposalId ? { proposalId } : {}), ...(transactionId ? { transactionId } : {}) };
      const [resourceId] = Object.values(about);
      if (typeof resourceId === 'string') {
        exchange.resourceId = resourceId;
        exchange.log = exchange.log.child(about);
      }
      if ('read' in route) await runRead(route, request, response, key);
      else if ('dryRun' in route) await runDryRun(route, request, response, key);
      else await runMutation(route, request, response, key);
    };
  }

  const api = Router({ caseSensitive: true, strict: true });
  api.use(async (request, response, next) => {
    await admit(request, response);
    next();
  });
  const paths = [...new Set(routes.map(({ endpoint }) => endpoint.path))];
  // Literal segments before parameters: /proposals/create is no proposal's id.
  for (const path of paths.sort((one, two) => one.split('{').length - two.split('{').length)) {
    const here = routes.filter(({ endpoint }) => endpoint.path === path);
    const route = api.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const entry of here) route[entry.endpoint.method](handlerOf(entry));
    route.all(otherMethods(here.map(({ endpoint }) => endpoint.method)));
  }

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.use((request, response, next) => {
    const transport = transportOf(request);
    beginExchange(request, response, { logger, metrics, transport, stopping });
    if (request.httpVersion === '1.1' && request.headers.host === undefined) {
      throw badRequest([{ field: 'Host', message: 'is required' }]);
    }
    if (!transport.secure) throw upgradeRequired();
    if (config.production) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    next();
  });
  app.use(BASE_PATH, api);
  const docs = docsRoutes();
  app.use(docs.router);
  for (const path of docs.paths) app.all(path, otherMethods(['get']));
  app.use(() => {
    throw notFound('path');
  });
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const exchange = response.locals.exchange as Exchange | undefined;
    sendRefusal(request, response, refusalOf(error, exchange?.log ?? logger));
  });
  return app;
}
