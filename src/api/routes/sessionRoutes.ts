import { type RequestHandler, Router } from 'express';
import { z } from 'zod';
import {
  endOtherSessionEndpoint,
  endSessionEndpoint,
  getSessionEndpoint,
  getSessionNonceEndpoint,
  listSessionsEndpoint,
  newSession,
  type ShownSession,
  startSessionEndpoint,
} from '../../contract/sessionContract';
import { endSession } from '../../credentials/memberSessions';
import type { SessionCredential } from '../../db/credentials';
import { openNonce } from '../../db/sessionNonces';
import { listSessions, type Session } from '../../db/sessions';
import type { Admission } from '../admission';
import { readJsonBody } from '../body';
import type { ApiDependencies } from '../dependencies';
import { exchangeOf } from '../exchange';
import { otherMethods } from '../methods';
import { assertOwnOrigin } from '../origin';
import { parseQuery, parseWith } from '../query';
import { notFound, Refused } from '../refusals';
import type { Asked } from '../requestContext';
import { browserCookie, CLEARED_COOKIE, sessionCookie } from '../sessionCookie';
import { MAX_SESSION_BODY_BYTES, type SessionRoute, sessionOf, sessionRoute } from '../sessionRoute';
import { type SignInDependencies, signIn } from '../signIn';
import { apiKeyRoutes } from './apiKeyRoutes';
import { type ChannelRouteDependencies, channelRoutes } from './channelRoutes';

interface Dependencies extends SignInDependencies, Pick<ChannelRouteDependencies, 'deliveries'> {
  readonly admission: Admission;
  readonly config: Pick<ApiDependencies['config'], 'origins' | 'networks' | 'production' | 'temporal'>;
}

/** Below which everything is for sessions alone. */
export const SESSION_PATHS = ['/session', '/sessions', '/api-keys', '/channels'];

const NO_QUERY = z.strictObject({});

/** A session as its member sees it, with the Temporal UI where there is one. */
function sessionView(
  session: Session,
  currentId: string,
  { uiUrl, namespace }: ApiDependencies['config']['temporal'],
): ShownSession {
  const { id, name, walletAddress } = session.member;
  return {
    id: session.id,
    organization: session.organization,
    member: { id, name, type: 'user', walletAddress },
    isAdmin: session.isAdmin,
    current: session.id === currentId,
    ...(session.userAgent === null ? {} : { userAgent: session.userAgent }),
    createdAt: session.createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
    idleExpiresAt: session.idleExpiresAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    ...(uiUrl === undefined ? {} : { temporalUiUrl: uiUrl, temporalNamespace: namespace }),
  };
}

/** The session of a request, and all of its member. */
async function sessionsOf({ db }: Dependencies, { id, organizationId, memberId }: SessionCredential) {
  const all = await listSessions(db, { organizationId, memberId });
  const current = all.find((session) => session.id === id);
  // It has ended since it was authenticated.
  if (!current) throw new Refused({ code: 'unauthorized', message: 'the session has ended: sign in again' });
  return { all, current };
}

/** Ends a session of the member who asks. */
async function end(dependencies: Dependencies, asked: Asked, sessionId: string): Promise<ShownSession> {
  const { db, config } = dependencies;
  const credential = sessionOf(asked);
  const { organizationId, memberId } = credential;
  const { all } = await sessionsOf(dependencies, credential);
  const session = all.find(({ id }) => id === sessionId);
  const by = credential.id;
  const ended = session && (await endSession(db, { id: sessionId, organizationId, memberId, by }));
  if (!ended) {
    await sessionsOf(dependencies, credential);
    throw notFound('session');
  }
  if (sessionId === credential.id) asked.response.setHeader('Set-Cookie', CLEARED_COOKIE);
  return sessionView(session, credential.id, config.temporal);
}

/** The routes, in no particular order. */
function routesOf(dependencies: Dependencies): SessionRoute[] {
  const { db, config, admission } = dependencies;
  const shown = (session: Session, currentId: string) => sessionView(session, currentId, config.temporal);
  return [
    sessionRoute(config, getSessionNonceEndpoint, async ({ response }) => {
      admission.countNonce(exchangeOf(response));
      const { nonce, expiresAt } = await openNonce(db);
      const networkIds = config.networks.map(({ id }) => id);
      return { data: { nonce, expiresAt: expiresAt.toISOString(), networkIds } };
    }),
    sessionRoute(config, getSessionEndpoint, async (asked) => {
      const { current } = await sessionsOf(dependencies, sessionOf(asked));
      return { data: shown(current, current.id) };
    }),
    sessionRoute(config, startSessionEndpoint, async ({ request, response }) => {
      const takeBack = admission.countAttempt(exchangeOf(response));
      const body = parseWith(newSession, await readJsonBody(request, MAX_SESSION_BODY_BYTES));
      const { token, browser, session } = await signIn(dependencies, request, body);
      takeBack();
      response.setHeader('Set-Cookie', [sessionCookie(token), browserCookie(browser)]);
      return { data: shown(session, session.id) };
    }),
    sessionRoute(config, endSessionEndpoint, async (asked) => ({
      data: await end(dependencies, asked, sessionOf(asked).id),
    })),
    sessionRoute(config, listSessionsEndpoint, async (asked) => {
      const { all, current } = await sessionsOf(dependencies, sessionOf(asked));
      return { data: all.map((one) => shown(one, current.id)) };
    }),
    sessionRoute(config, endOtherSessionEndpoint, async (asked) => ({
      data: await end(dependencies, asked, String(asked.request.params.sessionId)),
    })),
    ...apiKeyRoutes({ db, config }),
    ...channelRoutes(dependencies),
  ];
}

/** Refuses everything where nobody can sign in, and what a page of another origin sends. */
function refuseOthers(origins: readonly string[]): RequestHandler {
  return (request, response, next) => {
    exchangeOf(response).route = '/session';
    if (origins.length === 0) {
      throw new Refused({
        code: 'notFound',
        message: 'nobody can sign in here: the setting ORIGINS names no origin',
      });
    }
    assertOwnOrigin(request, origins);
    next();
  };
}

function handlerOf({ endpoint, serve }: SessionRoute): RequestHandler {
  return async (request, response) => {
    exchangeOf(response).route = endpoint.path;
    parseQuery(NO_QUERY, request.originalUrl);
    await serve({ request, response });
  };
}

/** Signing in and out, with a cookie for the browser. */
export function sessionRoutes(dependencies: Dependencies): Router {
  const { config, admission } = dependencies;
  const router = Router({ caseSensitive: true, strict: true });
  router.use(SESSION_PATHS, refuseOthers(config.origins));
  const routes = routesOf(dependencies);
  for (const path of new Set(routes.map(({ endpoint }) => endpoint.path))) {
    const here = routes.filter(({ endpoint }) => endpoint.path === path);
    const at = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of here) {
      const { method, needsSession } = route.endpoint;
      at[method](...(needsSession ? [admission.admitSession] : []), handlerOf(route));
    }
    at.all(otherMethods(here.map(({ endpoint }) => endpoint.method)));
  }
  return router;
}
