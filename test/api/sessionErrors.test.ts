import { STATUS_BY_CODE } from '../../src/contract/errors';
import type { ErrorCode } from '../../src/domain/refusal';
import { sharedApi, startApi } from '../support/api';
import { checkConformance } from '../support/conformance';
import { type Operation, sessionOperations } from '../support/document';
import type { Answer, Ask } from '../support/http';
import { databaseSettings, type TestOrganization, type TestService } from '../support/service';
import { originOf, signIn, trySignIn } from '../support/session';
import { sendPlain } from '../support/sockets';
import { createTestDatabase } from '../support/stack';

let api: TestService;
/** On the same database: one request per second. */
let slow: TestService;
/** Its database is gone. */
let broken: TestService;
/** The signer has compared another start of the server than the one that runs. */
let rolledBack: TestService;
let org: TestOrganization;
let cookie: string;

beforeAll(async () => {
  api = await sharedApi();
  const small = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' };
  slow = await startApi({ env: { ORGWALLET_ROLES: 'api', ...small }, database: api.env });
  const database = await createTestDatabase();
  broken = await startApi({ env: { ORGWALLET_ROLES: 'api' }, database: databaseSettings(database) });
  await database.drop();
  rolledBack = await startApi({
    env: { ORGWALLET_ROLES: 'api' },
    database: databaseSettings(await createTestDatabase()),
    ready: false,
  });
  await rolledBack.db('journal_comparison').update({ server: 'another' });
  org = await api.createOrganization();
  ({ cookie } = await signIn(api, org.alice));
});
afterAll(() => Promise.all([api, slow, broken, rolledBack].map((service) => service?.stop())));

/** A failed attempt to sign in counts for the network of its caller: a hundred are allowed at once, and more with time. */
const ATTEMPTS = 200;
const UNKNOWN = 'ses_01jz8k3v5fe5ht0n2m6w9r4xyz';
const UNKNOWN_KEY = 'key_01jz8k3v5fe5ht0n2m6w9r4xyz';

/** A request to an operation as a page of that service sends it. */
function askOf({ method, path, body }: Operation, service: TestService): Ask & { method: string } {
  return {
    method: method.toUpperCase(),
    path: path.replace('{sessionId}', UNKNOWN).replace('{apiKeyId}', UNKNOWN_KEY),
    idempotencyKey: null,
    headers: { cookie, origin: originOf(service) },
    ...(body ? { body: body.example } : {}),
  };
}

/** The first refusal of many requests. A stream that is opened meanwhile has no end. */
function limited(ask: Ask, times: number): Promise<Answer> {
  const refusals = Array.from({ length: times }, async () => {
    const answer = await slow.http.send(ask);
    if (answer.status !== 429) throw new Error(`${ask.path} → ${answer.status}`);
    return answer;
  });
  return Promise.any(refusals);
}

/** How each code can be got from an operation that lists it. */
const waysTo: { readonly [code: string]: (operation: Operation) => Promise<Answer> } = {
  validationError(operation) {
    const ask = askOf(operation, api);
    return api.http.send({ ...ask, path: `${ask.path}?surprise=1` });
  },
  unauthorized(operation) {
    const { headers: _, ...ask } = askOf(operation, api);
    return api.http.send({ ...ask, headers: { origin: originOf(api) } });
  },
  forbidden(operation) {
    const headers = { cookie, origin: 'https://elsewhere.example' };
    return api.http.send({ ...askOf(operation, api), headers });
  },
  notFound: (operation) => api.http.send(askOf(operation, api)),
  async conflict() {
    const { wallet } = org.carol;
    const second = await api.createOrganization();
    await api.db('members').where({ id: second.dave.id }).update({ wallet_address: wallet.address });
    return trySignIn(api, wallet);
  },
  upgradeRequired(operation) {
    const { method, path } = askOf(operation, api);
    return sendPlain(api, { method, path }, checkConformance);
  },
  rateLimited(operation) {
    const needsSession = operation.codes.includes('unauthorized') && operation.id !== 'startSession';
    return limited(askOf(operation, slow), needsSession ? 3 : ATTEMPTS);
  },
  internalError: (operation) => broken.http.send(askOf(operation, broken)),
  notReconciled: (operation) => rolledBack.http.send(askOf(operation, rolledBack)),
};

/** Codes that are got elsewhere: without ORIGINS every path is a 404 (tlsAtProxy.test.ts), and the conflicts of channels (channels.test.ts). */
const isElsewhere = ({ id, path }: Operation, code: ErrorCode) =>
  (code === 'notFound' && !path.includes('{')) || (code === 'conflict' && id !== 'startSession');

describe.each(sessionOperations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    it.each(operation.codes.filter((code) => !isElsewhere(operation, code)))('answers %s', async (code) => {
      const answer = await waysTo[code]?.(operation);
      expect([answer?.status, answer?.body?.code]).toEqual([STATUS_BY_CODE[code], code]);
    });
  },
);
