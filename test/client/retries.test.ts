import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Api, ApiError, createApi, NoAnswer, NotReached, waitFor } from '@orgwallet/client';
import { reject, sharedApi } from '../support/api';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import type { TestOrganization, TestService } from '../support/service';
import { startTcpProxy } from '../support/tcpProxy';
import { until } from '../support/until';

let service: TestService;
let proxy: InterceptingProxy;
let org: TestOrganization;
let api: Api;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
  org = await service.createOrganization();
  api = createApi({ baseUrl: proxy.baseUrl, apiKey: org.adminKey });
});
beforeEach(() => proxy.intercept({}));
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

const newAccount = (name: string = randomUUID()) => ({ items: [{ name, networkIds: [31337] }] });

/** How often a proposal with that summary exists. */
async function countNamed(name: string): Promise<number> {
  const summaries = (await api.listAccountProposals({ limit: 100 })).map(({ summary }) => summary);
  return summaries.filter((summary) => summary.includes(name)).length;
}

/** Something that happens to the first request only. */
function once<T>(what: T): () => T | undefined {
  let done = false;
  return () => {
    if (done) return undefined;
    done = true;
    return what;
  };
}

const refused = (status: number, code: string, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ error: { code, message: 'not now' } }),
});

describe('a POST of the client', () => {
  it.each([
    ['whose answer is lost', { after: once('cut' as const) }],
    ['whose connection ends before it arrives', { before: once('cut' as const) }],
    ['that gets a 500', { before: once(refused(500, 'internalError')) }],
    ['that gets the error page of a proxy', { before: once({ status: 503, body: '<html>' }) }],
    ['that is sent too often', { before: once(refused(429, 'rateLimited', { 'retry-after': '1' })) }],
    ['whose first request still runs', { before: once(refused(409, 'conflict', { 'retry-after': '1' })) }],
  ])('%s is sent again with the same idempotency key, and takes effect once', async (_, interception) => {
    proxy.intercept(interception);
    const body = newAccount();
    const { summary } = await api.proposeAccountsCreate(body);
    const [first, second, ...more] = proxy.requests;
    expect(first?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect([second?.idempotencyKey, second?.body, more]).toEqual([first?.idempotencyKey, first?.body, []]);
    expect(summary).toContain(body.items[0]?.name);
    expect(await countNamed(body.items[0]?.name ?? '')).toBe(1);
  });

  it('waits for as long as the service asks for', async () => {
    proxy.intercept({ before: once(refused(429, 'rateLimited', { 'retry-after': '1' })) });
    const startedAt = performance.now();
    await api.proposeAccountsCreate(newAccount());
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  it('gets the outcome of an earlier process with the key that this one had stored', async () => {
    const [body, idempotencyKey] = [newAccount(), randomUUID()];
    const first = await api.proposeAccountsCreate(body, { idempotencyKey });
    const again = await api.proposeAccountsCreate(body, { idempotencyKey });
    expect(again).toEqual(first);
    await expect(api.proposeAccountsCreate(newAccount(), { idempotencyKey })).rejects.toMatchObject({
      code: 'idempotencyConflict',
    });
  });

  it('has another idempotency key than the next', async () => {
    await api.proposeAccountsCreate(newAccount());
    await api.proposeAccountsCreate(newAccount());
    expect(new Set(proxy.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });

  it('is not sent again when it is refused', async () => {
    await expect(api.proposeAccountsCreate(newAccount(''))).rejects.toBeInstanceOf(ApiError);
    expect(proxy.requests).toHaveLength(1);
  });

  it('without any final answer names the key with which it can be repeated', async () => {
    proxy.intercept({ after: () => 'cut' });
    const body = newAccount();
    const failed: NoAnswer = await api.proposeAccountsCreate(body, { timeoutMs: 1_500 }).then(
      () => Promise.reject(new Error('there was an answer')),
      (error) => error,
    );
    expect(failed).toBeInstanceOf(NoAnswer);
    expect(failed.message).toMatch(/no final answer to POST \/accounts\/proposals\/create within 1500 ms: /);
    expect(proxy.requests.length).toBeGreaterThan(1);
    proxy.intercept({});
    const { idempotencyKey } = failed;
    const { summary } = await api.proposeAccountsCreate(body, {
      ...(idempotencyKey ? { idempotencyKey } : {}),
    });
    expect(summary).toContain(body.items[0]?.name);
    expect(await countNamed(body.items[0]?.name ?? '')).toBe(1);
  });
});

describe('a POST whose answer is lost, and whose API key is refused when it is sent again,', () => {
  it.each([
    ['the service', refused(401, 'unauthorized')],
    ['the service, as a member who is no longer an admin', refused(403, 'forbidden')],
    ['a proxy', { status: 403, body: '<html>' }],
  ])('names the key with which it can be repeated: refused by %s', async (_, refusal) => {
    let tries = 0;
    proxy.intercept({ before: () => (++tries > 1 ? refusal : undefined), after: once('cut' as const) });
    const body = newAccount();
    const { idempotencyKey } = await api.proposeAccountsCreate(body).then(
      () => Promise.reject(new Error('it was not refused')),
      (error: ApiError | NoAnswer) => error,
    );
    expect(idempotencyKey).toBeDefined();
    expect(idempotencyKey).toBe(proxy.requests[0]?.idempotencyKey);
    proxy.intercept({});
    await api.proposeAccountsCreate(body, { ...(idempotencyKey ? { idempotencyKey } : {}) });
    expect(await countNamed(body.items[0]?.name ?? '')).toBe(1);
  });

  it('names none where there was an answer to each try', async () => {
    proxy.intercept({ before: () => refused(401, 'unauthorized') });
    await expect(api.proposeAccountsCreate(newAccount())).rejects.toMatchObject({
      code: 'unauthorized',
      idempotencyKey: undefined,
    });
  });
});

describe('the client', () => {
  it('sends again what got no answer on a connection on which nothing passes any more', async () => {
    const tcpProxy = await startTcpProxy({ host: '127.0.0.1', port: proxy.port });
    try {
      const baseUrl = `http://127.0.0.1:${tcpProxy.port}/api/v1`;
      const far = createApi({ baseUrl, apiKey: org.adminKey, requestTimeoutMs: 1_000 });
      await far.listMembers();
      tcpProxy.vanish();
      const body = newAccount();
      const proposed = far.proposeAccountsCreate(body);
      const repeated = until('it is sent on a new connection', async () => {
        tcpProxy.appear();
        return proxy.requests.some(({ method }) => method === 'POST');
      });
      expect((await proposed).summary).toContain(body.items[0]?.name);
      await repeated;
      expect(await countNamed(body.items[0]?.name ?? '')).toBe(1);
    } finally {
      tcpProxy.close();
    }
  });

  it('ends a call, and the pause before its next try, when its signal is aborted', async () => {
    const reason = new Error('the user has left');
    proxy.intercept({ before: () => refused(429, 'rateLimited', { 'retry-after': '30' }) });
    const control = new AbortController();
    const listed = api.listMembers({}, { signal: control.signal });
    await until('the first request is refused', async () => proxy.requests.length > 0);
    control.abort(reason);
    await expect(listed).rejects.toBe(reason);
    await expect(api.listMembers({}, { signal: control.signal })).rejects.toBe(reason);
    expect(proxy.requests).toHaveLength(1);
  });

  it('says when it is not the API that answers', async () => {
    proxy.intercept({ before: () => ({ status: 404, body: '<html>' }) });
    const failed: NoAnswer = await api.proposeAccountsCreate(newAccount()).catch((error) => error);
    expect(failed).toBeInstanceOf(NoAnswer);
    expect(failed.idempotencyKey).toBeUndefined();
    expect(failed.message).toBe(
      `${proxy.baseUrl}/accounts/proposals/create answered 404 without an API error (is baseUrl correct?)`,
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it('does not follow a redirection, which would take the key elsewhere', async () => {
    const asked: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    try {
      proxy.intercept({ before: () => ({ status: 307, headers: { location }, body: '' }) });
      await expect(api.listMembers({}, { timeoutMs: 300 })).rejects.toBeInstanceOf(NoAnswer);
      expect(asked).toEqual([]);
    } finally {
      elsewhere.close();
    }
  });

  it.each(['http://wallet.example/api/v1', 'ftp://localhost/api/v1'])(
    'refuses to send a key to %s',
    (baseUrl) => {
      expect(() => createApi({ baseUrl, apiKey: org.adminKey })).toThrow(TypeError);
    },
  );
});

describe('waitFor', () => {
  it('finds a proposal by its id alone, and ends once it has a status', async () => {
    const proposal = await api.proposeAccountsCreate(newAccount());
    const waiting = waitFor(api, proposal.id, 'rejected', { everyMs: 50 });
    await reject(service.http, org, proposal);
    expect(await waiting).toMatchObject({ id: proposal.id, executionStatus: 'rejected' });
    expect(await waitFor(api, proposal, ['completed', 'rejected'])).toMatchObject({
      resourceType: 'accounts',
    });
  });

  it('says whether what failed waits for somebody, and waits for what continues by itself', async () => {
    const proposal = await api.proposeAccountsCreate(newAccount());
    const at = new Date().toISOString();
    const shownWith = (more: object) => {
      const failure = { code: 'relayerFunds', message: 'no ETH', at, attempt: 1, retryable: true, ...more };
      proxy.intercept({
        after: (_, { data }) => ({ data: { ...data, executionStatus: 'failed', failure } }),
      });
      const options = { timeoutMs: 300, everyMs: 50 };
      return waitFor(api, proposal, 'completed', options).catch((error) => error);
    };
    const parked = await shownWith({ resumes: false });
    expect(parked).toMatchObject({ why: 'parked' });
    expect(proxy.requests).toHaveLength(1);
    expect(await shownWith({ resumes: false, retryable: false })).toMatchObject({ why: 'ended' });
    const resuming = await shownWith({ resumes: true });
    expect(resuming).toMatchObject({ why: 'timeout' });
    expect(resuming.message).toBe(
      `${proposal.id} is failed (relayerFunds: no ETH; it continues by itself: do not request it again) after 300 ms, and not completed`,
    );
    expect(proxy.requests.length).toBeGreaterThan(2);
  });

  it('does not wait for what cannot come any more', async () => {
    const proposal = await api.proposeAccountsCreate(newAccount());
    await reject(service.http, org, proposal);
    const failed: NotReached = await waitFor(api, proposal, 'completed').catch((error) => error);
    expect(failed).toBeInstanceOf(NotReached);
    expect(failed).toMatchObject({
      code: 'notReached',
      why: 'ended',
      record: { executionStatus: 'rejected' },
    });
    expect(failed.message).toBe(`${proposal.id} is rejected, and not completed`);
  });

  it('ends after its time, with the record as it is, and when it is aborted', async () => {
    const proposal = await api.proposeAccountsCreate(newAccount());
    await expect(waitFor(api, proposal, 'completed', { timeoutMs: 200, everyMs: 50 })).rejects.toMatchObject({
      code: 'notReached',
      why: 'timeout',
      record: { signatureStatus: 'pendingReviewSignatures' },
    });
    const control = new AbortController();
    const waiting = waitFor(api, proposal, 'completed', { signal: control.signal });
    control.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(waitFor(api, 'prop_01jz8k3v5fe5ht0n2m6w9r4xyz', 'completed')).rejects.toMatchObject({
      code: 'notFound',
    });
  });
});
