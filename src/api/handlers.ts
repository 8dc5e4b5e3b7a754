import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { checksumAddress } from '../chain/address';
import { BASE_PATH, type Endpoint } from '../contract/endpoint';
import { addressInput } from '../contract/primitives';
import type { Credential } from '../db/credentials';
import type { StoredAnswer } from '../db/idempotency';
import { ADDRESS_PATTERN } from '../domain/address';
import type { JsonValue } from '../domain/canonicalJson';
import { requiresAdmin } from '../domain/credential';
import { lacksScope } from '../domain/keyRights';
import { isId } from '../domain/schemas';
import { readJsonBody } from './body';
import { scopeOf } from './endpoints';
import { type Exchange, exchangeOf, sendJson } from './exchange';
import type { Idempotency } from './idempotency';
import { parseQuery, parseWith } from './query';
import { badRequest, notFound, Refused } from './refusals';
import type { MutationAnswer, RequestContext, Route } from './requestContext';
import type { Turns } from './turns';

/** The dependencies of handlers. */
export interface HandlerDependencies {
  readonly idempotency: Idempotency;
  readonly turns: Turns;
  /** Outside production every response is compared with its schema. */
  readonly production: boolean;
}

/** A request that has been admitted, with its response. */
interface Admitted {
  readonly request: Request;
  readonly response: Response;
  readonly exchange: Exchange;
  readonly credential: Credential;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const isAddress = (text: string) => ADDRESS_PATTERN.test(text);

/** An address in a path, with its checksum. Refuses a wrong one with validationError. */
function readAddress(name: string, text: string): string {
  parseWith(z.strictObject({ [name]: addressInput }), { [name]: text });
  return checksumAddress(text);
}

/** Refuses a path whose parameters do not have the shape of their kind. */
function checkParams(endpoint: Endpoint, params: Request['params']): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(endpoint.params).map(([name, prefix]) => {
      const value = params[name];
      const isFormed = prefix === 'address' ? isAddress : (text: string) => isId(prefix, text);
      if (typeof value !== 'string' || !isFormed(value)) {
        throw notFound(name === 'txId' ? 'transaction' : name.replace(/Id$/, ''));
      }
      return [name, prefix === 'address' ? readAddress(name, value) : value];
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

function requireAccess(endpoint: Endpoint, credential: Credential): void {
  const scope = scopeOf(endpoint);
  if (credential.kind === 'apiKey' && !credential.rights.scopes.includes(scope)) {
    throw new Refused(lacksScope(scope), { details: { scope } });
  }
  if (endpoint.access === 'admin' && !credential.members.some((member) => member.isAdmin)) {
    throw new Refused(requiresAdmin(credential.id));
  }
}

function checkResponse(endpoint: Endpoint, body: unknown): void {
  const checked = endpoint.response.safeParse(body);
  if (!checked.success) {
    throw new Error(`the response of ${endpoint.id} does not match its schema: ${checked.error.message}`);
  }
}

function contextOf(
  endpoint: Endpoint,
  { request, exchange, credential }: Admitted,
  { query, body, endTurn = () => undefined }: { query: unknown; body: unknown; endTurn?: () => void },
): RequestContext {
  const { requestId, deadlineMs } = exchange;
  const params = checkParams(endpoint, request.params);
  const { organizationId } = credential;
  return { requestId, deadlineMs, credential, organizationId, params, query, body, endTurn };
}

async function runRead(
  { production }: HandlerDependencies,
  { endpoint, read }: Extract<Route, { read: unknown }>,
  admitted: Admitted,
): Promise<void> {
  const { request, response, credential } = admitted;
  const query = parseQuery(endpoint.query, request.originalUrl);
  requireAccess(endpoint, credential);
  const text = await read(contextOf(endpoint, admitted, { query, body: undefined }));
  if (!production) checkResponse(endpoint, JSON.parse(text));
  sendJson(request, response, endpoint.status, text);
}

async function runAnswer(
  { production }: HandlerDependencies,
  { endpoint, answer }: Extract<Route, { answer: unknown }>,
  admitted: Admitted,
): Promise<void> {
  const { request, response, credential } = admitted;
  const query = parseQuery(endpoint.query, request.originalUrl);
  requireAccess(endpoint, credential);
  const body = await answer(contextOf(endpoint, admitted, { query, body: undefined }), { request, response });
  if (body === undefined) return;
  if (!production) checkResponse(endpoint, body);
  sendJson(request, response, endpoint.status, JSON.stringify(body));
}

/** The idempotency key, query and body of a POST, dry run or not; `readBody` reads the body by its schema. */
async function readPost(endpoint: Endpoint, request: Request) {
  const key = idempotencyKey(request);
  const sentBody = endpoint.body ? await readJsonBody(request) : {};
  const query = parseQuery(endpoint.query, request.originalUrl);
  const readBody = () => (endpoint.body ? parseWith(endpoint.body, sentBody) : sentBody) as JsonValue;
  return { key, sentBody, query, readBody };
}

async function runDryRun(
  { production }: HandlerDependencies,
  { endpoint, dryRun }: Extract<Route, { dryRun: unknown }>,
  admitted: Admitted,
): Promise<void> {
  const { request, response, credential } = admitted;
  const { query, readBody } = await readPost(endpoint, request);
  const body = readBody();
  requireAccess(endpoint, credential);
  const answer = await dryRun(contextOf(endpoint, admitted, { query, body }));
  if (!production) checkResponse(endpoint, answer);
  sendJson(request, response, endpoint.status, JSON.stringify(answer));
}

async function runMutation(
  { production, idempotency, turns }: HandlerDependencies,
  { endpoint, mutation }: Extract<Route, { mutation: unknown }>,
  admitted: Admitted,
): Promise<void> {
  const { request, response, exchange, credential } = admitted;
  let release = () => {};
  const endTurn = () => release();
  const { key, sentBody, query, readBody } = await readPost(endpoint, request);
  let body: JsonValue | undefined;
  const context = () => contextOf(endpoint, admitted, { query, body, endTurn });
  const answerOf = (status: number, { body, location = null }: MutationAnswer<unknown>): StoredAnswer => {
    if (!production) checkResponse(endpoint, body);
    return { status, body: JSON.stringify(body), location };
  };
  const answer = await idempotency.run(
    {
      organizationId: credential.organizationId,
      credentialId: credential.id,
      key,
      method: request.method,
      path: request.originalUrl.split('?')[0] ?? '',
      sentBody,
    },
    {
      readBody: () => {
        body = readBody();
        return body;
      },
      takeTurn: async () => {
        release = await turns.take(credential.organizationId);
        return release;
      },
      authorize: async () => requireAccess(endpoint, credential),
      check: () => mutation.check(context()),
      send: async (sent) => {
        exchange.resourceId = sent.resourceId;
        return answerOf(endpoint.status, await mutation.send(context(), sent));
      },
      show: async (approvalId) => {
        exchange.resourceId = approvalId;
        if (!mutation.show)
          throw new Error(`${endpoint.id} creates nothing, and ${approvalId} has its request`);
        return answerOf(200, await mutation.show(context(), approvalId));
      },
    },
    exchange.deadlineMs,
  );
  if (response.headersSent) return;
  if (answer.replayed) response.setHeader('Idempotency-Replayed', 'true');
  if (answer.location !== null) response.setHeader('Location', answer.location);
  sendJson(request, response, answer.status, answer.body);
}

/** Records in log and metrics which route and which record a request is about. */
function noteSubject(exchange: Exchange, route: Route, params: Request['params']): void {
  exchange.route = `${BASE_PATH}${route.endpoint.path}`;
  const { proposalId, txId } = params;
  if (typeof proposalId === 'string') {
    exchange.resourceId = proposalId;
    exchange.approval = { proposalId };
  } else if (typeof txId === 'string') {
    exchange.resourceId = txId;
    exchange.approval = { transactionId: txId };
  }
}

/** The Express handler of a route, for requests that have been admitted. */
export function handlerOf(dependencies: HandlerDependencies, route: Route): RequestHandler {
  return async (request, response) => {
    const exchange = exchangeOf(response);
    const { credential } = exchange;
    if (!credential) throw new Error('a request reached its handler without a credential');
    noteSubject(exchange, route, request.params);
    const admitted: Admitted = { request, response, exchange, credential };
    if ('read' in route) await runRead(dependencies, route, admitted);
    else if ('answer' in route) await runAnswer(dependencies, route, admitted);
    else if ('dryRun' in route) await runDryRun(dependencies, route, admitted);
    else await runMutation(dependencies, route, admitted);
  };
}
