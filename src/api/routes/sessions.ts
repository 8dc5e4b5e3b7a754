import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import {
  newSession,
  nonceResponse,
  type ShownSession,
  sessionResponse,
  sessionsResponse,
} from '../../contract/sessions';
import type { SessionCredential } from '../../db/credentials';
import type { Db } from '../../db/database';
import { findPeople, type Membership } from '../../db/memberships';
import { endSession } from '../../db/sessionEnds';
import { attemptNonce, openNonce } from '../../db/sessionNonces';
import { listSessions, type Session, startSession } from '../../db/sessions';
import type { Admission } from '../admission';
import { readJsonBody } from '../body';
import type { ApiDependencies } from '../dependencies';
import type { EventStreams } from '../eventStreams';
import { exchangeOf, sendJson } from '../exchange';
import { otherMethods } from '../methods';
import { assertOwnOrigin } from '../origin';
import { parseQuery, parseWith } from '../query';
import { notFound, pathNotFound, Refused } from '../refusals';
import { CLEARED_COOKIE, sessionCookie } from '../sessionCookie';
import { checkSignInMessage, readSignInMessage } from '../signInMessage';

type Dependencies = { db: Db; admission: Admission; eventStreams: EventStreams } & Pick<
  ApiDependencies,
  'findSignedMessage'
> & {
    config: Pick<ApiDependencies['config'], 'origins' | 'networks' | 'production' | 'temporal'>;
  };

const MAX_USER_AGENT_LENGTH = 200;
/** Room for the longest message and signature, in bytes: anybody can have a body of this size read. */
const MAX_BODY_BYTES = 32_768;
const NO_QUERY = z.strictObject({});

function unauthorized(message: string): Refused {
  return new Refused({ code: 'unauthorized', message });
}

const SPENT = 'message: its nonce is unknown, used or expired: ask for a new one';

/** What a browser says about itself, without what is not printable. */
function userAgentOf({ headers }: Request): string | null {
  const text = (headers['user-agent'] ?? '').replaceAll(/[^\x20-\x7e]/g, '').slice(0, MAX_USER_AGENT_LENGTH);
  return text === '' ? null : text;
}

/**
 * The members whose wallet has signed a text, in all organizations. Also the contract of somebody who is no member is asked
 * about what its key has not signed: neither the time nor a failure of the network says who is one.
 */
async function findSignatories(
  { db, findSignedMessage }: Pick<Dependencies, 'db' | 'findSignedMessage'>,
  { walletAddress, message, signature }: { walletAddress: string; message: string; signature: string },
): Promise<Membership[]> {
  const people = await findPeople(db, walletAddress);
  const hasSigned = async (walletKind: Membership['walletKind']) =>
    (await findSignedMessage({ walletAddress, walletKind, signature, messages: [message] })).ok;
  const byKey = await hasSigned('key');
  const mayBeContract = !byKey || people.some(({ walletKind }) => walletKind === 'contract');
  const byContract = mayBeContract && (await hasSigned('contract'));
  return people.filter(({ walletKind }) => (walletKind === 'key' ? byKey : byContract));
}

/** The one organization to sign in to. Refuses with conflict when it has to be chosen. */
function chosenMembership(
  signatories: readonly Membership[],
  organizationId: string | undefined,
): Membership {
  const possible = signatories.filter(
    (one) => organizationId === undefined || one.organizationId === organizationId,
  );
  const [first, ...others] = possible;
  if (!first) throw unauthorized('the signature is not one of the wallet of a member of type user');
  if (others.length === 0) return first;
  throw new Refused(
    {
      code: 'conflict',
      message: 'this wallet is a member of several organizations: name one with organizationId',
    },
    {
      details: {
        organizations: possible.map(({ organizationId: id, organizationName: name, memberName }) => ({
          id,
          name,
          memberName,
        })),
      },
    },
  );
}

/** Begins a session with a signed message. Throws Refused. */
async function signIn(
  dependencies: Dependencies,
  request: Request,
): Promise<{ token: string; session: Session }> {
  const { db, config, admission } = dependencies;
  const origin = request.headers.origin ?? '';
  const body = parseWith(newSession, await readJsonBody(request, MAX_BODY_BYTES));
  const message = readSignInMessage(body.message);
  const { open, now } = await attemptNonce(db, message.nonce);
  checkSignInMessage(message, { origin, networkIds: config.networks.map(({ id }) => id), now });
  if (!open) throw unauthorized(SPENT);
  const walletAddress = message.address;
  const signatories = await findSignatories(dependencies, { ...body, walletAddress });
  const { organizationId, memberId, walletKind } = chosenMembership(signatories, body.organizationId);
  await admission.countSession(memberId);
  const started = await startSession(db, {
    organizationId,
    memberId,
    wallet: { walletAddress, walletKind },
    nonce: message.nonce,
    origin,
    userAgent: userAgentOf(request),
  });
  if (started === 'spent') throw unauthorized(SPENT);
  if (started === 'gone') throw unauthorized('the wallet of the member has changed: sign in again');
  const session = (await listSessions(db, { organizationId, memberId })).find(({ id }) => id === started.id);
  if (!session) throw new Error(`session ${started.id} was not stored`);
  return { token: started.token, session };
}

/** A session of a member, and those that the member has besides. */
async function sessionsOf(db: Db, { id, organizationId, memberId }: SessionCredential) {
  const all = await listSessions(db, { organizationId, memberId });
  const current = all.find((session) => session.id === id);
  // It has ended since it was authenticated.
  if (!current) throw unauthorized('the session is over: sign in again');
  return { all, current };
}

/** Signing in and out, with a cookie for the browser. */
export function sessionRoutes(dependencies: Dependencies): Router {
  const { db, config, admission, eventStreams } = dependencies;
  const { origins, production, temporal } = config;
  const router = Router({ caseSensitive: true, strict: true });

  const shown = (session: Session, currentId: string): ShownSession => {
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
      ...(temporal.uiUrl === undefined
        ? {}
        : { temporalUiUrl: temporal.uiUrl, temporalNamespace: temporal.namespace }),
    };
  };

  /** Answers with data, compared with its schema outside production. */
  function send<Schema extends z.ZodType>(
    { request, response }: { request: Request; response: Response },
    responseSchema: Schema,
    body: z.input<Schema>,
    status = 200,
  ): void {
    if (!production) responseSchema.parse(body);
    sendJson(request, response, status, JSON.stringify(body));
  }

  type Handler = (exchanged: { request: Request; response: Response }) => Promise<void>;

  function answering(route: string, handler: Handler): RequestHandler {
    return async (request, response) => {
      exchangeOf(response).route = route;
      parseQuery(NO_QUERY, request.originalUrl);
      await handler({ request, response });
    };
  }

  function credentialOf(response: Response): SessionCredential {
    const { credential } = exchangeOf(response);
    if (credential?.kind !== 'session') throw new Error('a request reached its handler without a session');
    return credential;
  }

  async function end(response: Response, sessionId: string): Promise<ShownSession> {
    const credential = credentialOf(response);
    const { all } = await sessionsOf(db, credential);
    const session = all.find(({ id }) => id === sessionId);
    const { organizationId, memberId } = credential;
    const ended = session && (await endSession(db, { id: sessionId, organizationId, memberId }));
    if (!ended) throw notFound('session');
    if (sessionId === credential.id) response.setHeader('Set-Cookie', CLEARED_COOKIE);
    return shown(session, credential.id);
  }

  router.use(['/session', '/sessions'], (request, response, next) => {
    exchangeOf(response).route = '/session';
    if (origins.length === 0) {
      throw new Refused({
        code: 'notFound',
        message: 'nobody can sign in here: the setting ORIGINS names no origin',
      });
    }
    assertOwnOrigin(request, origins);
    next();
  });
  router.get(
    '/session/nonce',
    answering('/session/nonce', async ({ request, response }) => {
      admission.countNonce(exchangeOf(response));
      const { nonce, expiresAt } = await openNonce(db);
      const networkIds = config.networks.map(({ id }) => id);
      send({ request, response }, nonceResponse, {
        data: { nonce, expiresAt: expiresAt.toISOString(), networkIds },
      });
    }),
  );
  router.post(
    '/session',
    answering('/session', async ({ request, response }) => {
      const takeBack = admission.countAttempt(exchangeOf(response));
      const { token, session } = await signIn(dependencies, request);
      takeBack();
      response.setHeader('Set-Cookie', sessionCookie(token));
      send({ request, response }, sessionResponse, { data: shown(session, session.id) }, 201);
    }),
  );
  router.get(
    '/session',
    admission.admitSession,
    answering('/session', async ({ request, response }) => {
      const { current } = await sessionsOf(db, credentialOf(response));
      send({ request, response }, sessionResponse, { data: shown(current, current.id) });
    }),
  );
  router.delete(
    '/session',
    admission.admitSession,
    answering('/session', async ({ request, response }) => {
      const data = await end(response, credentialOf(response).id);
      send({ request, response }, sessionResponse, { data });
    }),
  );
  router.get(
    '/session/events',
    admission.admitListener,
    answering('/session/events', async ({ request, response }) => {
      if (request.method === 'HEAD') throw pathNotFound();
      const lastEventId = request.headers['last-event-id'];
      await eventStreams.open(response, credentialOf(response), lastEventId?.toString());
    }),
  );
  router.get(
    '/sessions',
    admission.admitSession,
    answering('/sessions', async ({ request, response }) => {
      const { all, current } = await sessionsOf(db, credentialOf(response));
      send({ request, response }, sessionsResponse, { data: all.map((one) => shown(one, current.id)) });
    }),
  );
  router.delete(
    '/sessions/:sessionId',
    admission.admitSession,
    answering('/sessions/{sessionId}', async ({ request, response }) => {
      const data = await end(response, String(request.params.sessionId));
      send({ request, response }, sessionResponse, { data });
    }),
  );
  router.all('/session/nonce', otherMethods(['get']));
  router.all('/session/events', otherMethods(['get']));
  router.all('/session', otherMethods(['get', 'post', 'delete']));
  router.all('/sessions', otherMethods(['get']));
  router.all('/sessions/:sessionId', otherMethods(['delete']));
  return router;
}
