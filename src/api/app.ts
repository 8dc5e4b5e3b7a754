import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express';
import { BASE_PATH } from '../contract/endpoint';
import { withSpan } from '../tracing';
import { limitForwarded } from './addressLimit';
import { type Authenticators, createAdmission } from './admission';
import { consoleRoutes } from './console';
import type { ApiDependencies } from './dependencies';
import { docsRoutes } from './docs';
import { beginExchange, type Exchange, exchangeOf, logOf, refusalOf, sendRefusal } from './exchange';
import { type HandlerDependencies, handlerOf } from './handlers';
import { STRICT_TRANSPORT_SECURITY } from './httpLimits';
import type { Idempotency } from './idempotency';
import type { JournalGate } from './journalGate';
import { otherMethods } from './methods';
import { badRequest, pathNotFound, Refused } from './refusals';
import type { Route } from './requestContext';
import { beginRequestSpan } from './requestSpan';
import { SESSION_PATHS, sessionRoutes } from './routes/sessionRoutes';
import { createTurns } from './turns';
import { webhookKeyRoutes } from './webhookKeys';

type AppDependencies = Pick<
  ApiDependencies,
  'config' | 'db' | 'logger' | 'metrics' | 'tracer' | 'findSignedMessage' | 'pageAddition' | 'deliveries'
> & {
  routes: readonly Route[];
  journalGate: Pick<JournalGate, 'admit'>;
  idempotency: Idempotency;
  authenticate: Authenticators;
  /** True once the server stops. */
  stopping: () => boolean;
};

/** The refusal of everything that comes without TLS. */
function upgradeRequired(): Refused {
  return new Refused(
    { code: 'upgradeRequired', message: 'plain HTTP is not supported: use HTTPS' },
    { headers: { Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade' } },
  );
}

/** Refuses a request without exactly one host (RFC 9112, section 3.2). */
function checkHost({ httpVersion, headers, rawHeaders }: Request): void {
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw badRequest([{ field: 'Host', message: 'is required' }]);
  }
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw badRequest([{ field: 'Host', message: 'is given twice' }]);
}

/** Begins the exchange of every request, and refuses those that come without TLS. */
function beginExchanges({ config, logger, metrics, tracer, stopping }: AppDependencies): RequestHandler {
  const limitRequests = limitForwarded(config.maxConnectionsPerAddress);
  const begin: RequestHandler = (request, response, next) => {
    beginExchange(request, response, { logger, metrics, stopping });
    limitRequests(request, response);
    checkHost(request);
    if (!request.secure) throw upgradeRequired();
    if (config.production) response.setHeader(...STRICT_TRANSPORT_SECURITY);
    next();
  };
  if (!tracer) return begin;
  return (request, response, next) =>
    withSpan(beginRequestSpan(tracer, request, response), () => begin(request, response, next));
}

const ROUTER_OPTIONS = { caseSensitive: true, strict: true };

/** The routes of one resource, literal segments before parameters, so that /proposals/create is not read as an id. */
function resourceRouter(dependencies: HandlerDependencies, routes: readonly Route[]): Router {
  const router = Router(ROUTER_OPTIONS);
  const paths = [...new Set(routes.map(({ endpoint }) => endpoint.path))];
  for (const path of paths.sort((one, two) => one.split('{').length - two.split('{').length)) {
    const here = routes.filter(({ endpoint }) => endpoint.path === path);
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const entry of here) route[entry.endpoint.method](handlerOf(dependencies, entry));
    route.all(otherMethods(here.map(({ endpoint }) => endpoint.method)));
  }
  return router;
}

/** The first segment of a path, which names a resource. */
function resourceIn(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/** The routes below the base path, a router for each resource: Express compares a path with each route of a router in turn. */
function routerOf(
  dependencies: HandlerDependencies,
  routes: readonly Route[],
  admit: RequestHandler,
): Router {
  const resources = [...new Set(routes.map(({ endpoint }) => resourceIn(endpoint.path)))];
  const routers = new Map(
    resources.map((resource) => {
      const own = routes.filter(({ endpoint }) => resourceIn(endpoint.path) === resource);
      return [resource, resourceRouter(dependencies, own)] as const;
    }),
  );
  const router = Router(ROUTER_OPTIONS);
  router.use(admit);
  router.use((request, response, next) => {
    const own = routers.get(resourceIn(request.path));
    if (own) own(request, response, next);
    else next();
  });
  return router;
}

/** The Express application: the checks that all endpoints share, in their documented order. */
export function createApp(dependencies: AppDependencies): Express {
  const {
    config,
    db,
    logger,
    routes,
    idempotency,
    authenticate,
    findSignedMessage,
    journalGate,
    pageAddition,
  } = dependencies;
  if (pageAddition && config.production) throw new Error('nothing is added to the console in production');
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('trust proxy', [...config.trustedProxies]);
  app.use(beginExchanges(dependencies));
  app.use([BASE_PATH, ...SESSION_PATHS], async (_request, response, next) => {
    exchangeOf(response).confirm = await journalGate.admit();
    next();
  });
  const admission = createAdmission(db, config, authenticate);
  const turns = createTurns();
  app.use(
    BASE_PATH,
    routerOf({ idempotency, turns, production: config.production }, routes, admission.admit),
  );
  app.use(sessionRoutes({ db, config, admission, findSignedMessage, deliveries: dependencies.deliveries }));
  const keys = webhookKeyRoutes(dependencies.deliveries);
  app.use(keys.router);
  for (const path of keys.paths) app.all(path, otherMethods(['get']));
  const docs = docsRoutes(config);
  app.use(docs.router);
  for (const path of docs.paths) app.all(path, otherMethods(['get']));
  if (pageAddition) app.use(pageAddition.routes);
  app.use(consoleRoutes({ ...config, pageAddition }));
  app.use(() => {
    throw pathNotFound();
  });
  // Express recognizes an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const exchange = response.locals.exchange as Exchange | undefined;
    const log = () => (exchange ? logOf(exchange) : logger);
    sendRefusal(request, response, refusalOf(error, log));
  });
  return app;
}
