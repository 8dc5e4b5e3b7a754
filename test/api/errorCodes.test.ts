import { randomUUID } from 'node:crypto';
import { STATUS_BY_CODE } from '../../src/contract/errors';
import type { ErrorCode } from '../../src/domain/refusal';
import {
  execute,
  PROPOSE,
  proposalPath,
  propose,
  read,
  type Shown,
  startApi,
  UNKNOWN,
  UPDATE,
} from '../support/api';
import { checkConformance, findOperation } from '../support/conformance';
import type { Answer, Ask } from '../support/http';
import { sign, signPayload, type TestOrganization, type TestService } from '../support/service';
import { sendPlain } from '../support/sockets';
import { until } from '../support/until';

let api: TestService;
/** On the same database, where Temporal cannot be reached. */
let cutOff: TestService;
let org: TestOrganization;
/** A proposal whose time goes by while the other tests run. */
let expiring: Shown;
/** A request to the service that is cut off, and its answer. */
let asked: Ask;
let away: Promise<Answer>;

beforeAll(async () => {
  api = await startApi({ env: { PROPOSAL_LIFETIME: '8s' } });
  cutOff = await startApi({
    env: { ORGWALLET_ROLES: 'api', TEMPORAL_ADDRESS: '127.0.0.1:1' },
    databaseUrl: api.config.databaseUrl,
    ready: false,
  });
  org = await api.createOrganization();
  asked = { key: org.adminKey, path: PROPOSE, body: newBody(), idempotencyKey: randomUUID() };
  away = cutOff.http.send(asked);
  expiring = await propose(api.http, org);
});
afterAll(() => Promise.all([api?.stop(), cutOff?.stop()]));

const newBody = () => ({ items: [{ name: randomUUID(), networkIds: [31337] }] });
const post = (path: string, body: unknown, key = org.adminKey) => api.http.send({ key, path, body });

/** One way to get each error code: a code without one does not compile. */
const waysTo: Record<ErrorCode, () => Promise<Answer>> = {
  validationError: () => post(PROPOSE, {}),
  async invalidSignature() {
    const { id } = await propose(api.http, org);
    return post(proposalPath(id, '/signatures'), { type: 'approve', signature: '0x' });
  },
  unauthorized: () => api.http.send({ path: '/api/v1/members' }),
  forbidden: () => post(PROPOSE, newBody(), org.readKey),
  notFound: () => api.http.send({ key: org.readKey, path: proposalPath(UNKNOWN.proposal) }),
  async conflict() {
    const proposal = await propose(api.http, org);
    await sign(api.http, org.adminKey, proposal, org.alice);
    return sign(api.http, org.adminKey, proposal, org.alice);
  },
  thresholdNotMet: async () => execute(api.http, org.adminKey, (await propose(api.http, org)).id),
  async proposalExpired() {
    const signature = await signPayload(org.alice, expiring.signingPayloads.approvePayload);
    await until('the proposal is expired', async () => {
      const { signatureStatus } = await read(api.http, org.readKey, proposalPath(expiring.id));
      return signatureStatus === 'expired';
    });
    return post(proposalPath(expiring.id, '/signatures'), { type: 'approve', signature });
  },
  async idempotencyConflict() {
    const idempotencyKey = randomUUID();
    const ask = { key: org.adminKey, path: PROPOSE, idempotencyKey };
    await api.http.send({ ...ask, body: newBody() });
    return api.http.send({ ...ask, body: newBody() });
  },
  upgradeRequired: () => sendPlain(api, { path: '/api/v1/members' }, checkConformance),
  rateLimited: () =>
    until('there were too many wrong keys', async () => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => api.http.send({ key: 'wrong', path: '/api/v1/members' })),
      );
      return answers.find(({ status }) => status === 429);
    }),
  internalError: () => away,
};

describe('every error code of the contract', () => {
  it.each(Object.keys(STATUS_BY_CODE) as ErrorCode[])('can be got: %s', async (code) => {
    const answer = await waysTo[code]();
    expect([answer.status, answer.body.code, answer.body.error.code]).toEqual([
      STATUS_BY_CODE[code],
      code,
      code,
    ]);
    expect(answer.body.message).toBe(answer.body.error.message);
    expect(answer.body.message.length).toBeGreaterThan(5);
  });

  it('a part that is away leaves no trace, and the same key finishes the work once it is back', async () => {
    const { status, headers } = await away;
    expect(status).toBe(500);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    const named = async () =>
      (await read(api.http, org.readKey, '/api/v1/proposals?limit=100')).filter(
        ({ data }: Shown) => data.items[0].name === (asked.body as Shown).items[0].name,
      );
    expect(await named()).toEqual([]);
    const back = await api.http.send(asked);
    expect(back.status).toBe(201);
    const again = await api.http.send(asked);
    expect(await named()).toHaveLength(1);
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([back.text, 'true']);
  });
});

describe('the check of answers against the OpenAPI document', () => {
  const good: Answer = {
    status: 200,
    headers: {
      'x-request-id': 'x',
      'content-type': 'application/json; charset=utf-8',
      'ratelimit-limit': '1',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '1',
    },
    text: '',
    body: { data: [{ id: 1, name: 'One', nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 } }] },
  };
  const ask = { method: 'GET', path: '/api/v1/networks' };

  it('passes what fits', () => {
    expect(() => checkConformance(ask, good)).not.toThrow();
  });

  it.each<[string, Partial<Answer>]>([
    ['a body without its data', { body: {} }],
    ['a field of another type', { body: { data: [{ ...good.body.data[0], id: '1' }] } }],
    ['a status that is not documented', { status: 201 }],
    ['a missing header', { headers: { ...good.headers, 'ratelimit-limit': undefined } }],
    ['another content type', { headers: { ...good.headers, 'content-type': 'text/plain' } }],
    ['an error without the body of one', { status: 401 }],
    [
      'an error code that the operation does not have',
      {
        status: 404,
        body: { error: { code: 'notFound', message: 'm' }, code: 'notFound', message: 'm' },
      },
    ],
  ])('fails on %s', (_, change) => {
    expect(() => checkConformance(ask, { ...good, ...change })).toThrow();
  });

  it('finds operations by method and path', () => {
    expect(findOperation('GET', '/api/v1/accounts/proposals/x?y=z')?.operationId).toBe('getAccountProposal');
    expect(findOperation('POST', PROPOSE)?.operationId).toBe('proposeAccountsCreate');
    expect(findOperation('HEAD', '/api/v1/members')?.operationId).toBe('listMembers');
    expect(findOperation('GET', UPDATE)).toBeUndefined();
    expect(findOperation('GET', '/elsewhere')).toBeUndefined();
  });
});
