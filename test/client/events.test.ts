import { type ApiError, createApi, type FeedEvent, NotConnected } from '@orgwallet/client';
import { appendAudit } from '../../src/db/audit';
import { OPERATOR } from '../../src/domain/actor';
import { sharedApi } from '../support/api';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import type { TestOrganization, TestService } from '../support/service';

let service: TestService;
let proxy: InterceptingProxy;
let org: TestOrganization;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
});
beforeEach(async () => {
  proxy.intercept({});
  org = await service.createOrganization();
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

const client = (settings: { requestTimeoutMs?: number; baseUrl?: string } = {}) =>
  createApi({ baseUrl: proxy.baseUrl, apiKey: org.readKey, timeoutMs: 5_000, ...settings });

function happen(times = 1) {
  const entry = {
    ...{ action: 'member.registered' as const, actor: OPERATOR, details: {} },
    ...{ resourceType: 'member', resourceId: org.alice.id },
  };
  return service.db.transaction((tx) =>
    appendAudit(
      tx,
      org.id,
      Array.from({ length: times }, () => entry),
    ),
  );
}

/** The events until there are so many. */
async function first(count: number, events: AsyncGenerator<FeedEvent>): Promise<FeedEvent[]> {
  const found: FeedEvent[] = [];
  for await (const event of events) if (found.push(event) === count) break;
  return found;
}

const positions = (events: readonly FeedEvent[]) => events.map(({ position }) => Number(position));
const oneTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, n) => n + from);

describe('events of the client', () => {
  it('are all, in order, and those that come', async () => {
    await happen(250);
    const { position } = (await happen(1)).map((position) => ({ position: Number(position) }))[0] ?? {};
    const events = client().events();
    const all = await first(Number(position), events);
    expect(positions(all)).toEqual(oneTo(Number(position)));
    const next = first(1, client().events({ after: 'latest', types: ['member.registered'] }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await happen(1);
    expect(positions(await next)).toEqual([Number(position) + 1]);
  });

  it('go on after broken connections, refusals and a service that is down for longer than a call may take', async () => {
    const begun = performance.now();
    const downFrom = begun + 1_500;
    const downTo = begun + 9_500;
    let answers = 0;
    proxy.intercept({
      before: () => {
        const now = performance.now();
        answers += 1;
        if (now > downFrom && now < downTo) return 'cut';
        return answers % 3 === 2 ? { status: 503, body: '<html>' } : undefined;
      },
      after: () => (answers % 5 === 4 ? 'cut' : undefined),
    });
    const total = 60;
    const found = first(total, client({ requestTimeoutMs: 6_000 }).events());
    for (let n = 0; n < 12; n += 1) {
      await happen(10);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect(positions(await found)).toEqual(oneTo(total));
  }, 60_000);

  it('go on where an earlier program has stopped, and say of a restored database up to where it has them', async () => {
    const last = Number((await happen(400)).at(-1));
    const seen = await first(last, client().events());
    const cursor = seen.at(-1)?.cursor ?? '';
    await happen(2);
    expect(positions(await first(2, client().events({ after: cursor })))).toEqual([last + 1, last + 2]);
    // It is restored to 20 entries before.
    const restored = seen[last - 21];
    await service.db.raw('ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only');
    await service
      .db('audit_log')
      .where({ organization_id: org.id })
      .where('position', '>', last - 20)
      .delete();
    await service
      .db('audit_heads')
      .where({ organization_id: org.id })
      .update({ position: last - 20, hash: restored?.hash ?? '' });
    await service.db.raw('ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only');
    await happen(30);
    const refused: ApiError = await first(1, client().events({ after: cursor })).then(
      () => Promise.reject(new Error('not refused')),
      (error) => error,
    );
    expect([refused.code, refused.status]).toEqual(['gone', 410]);
    const certain = Number(refused.details.position);
    expect(certain).toBeLessThanOrEqual(last - 20);
    // A cursor names some earlier events, further and further apart.
    expect(certain).toBeGreaterThanOrEqual(last - 160);
    const again = await first(1, client().events({ after: seen[certain - 1]?.cursor }));
    expect(again[0]?.previousHash).toBe(seen[certain - 1]?.hash);
  });

  it('end with a refusal, the signal, or the first answer that does not come', async () => {
    await expect(first(1, client().events({ after: '99999' }))).rejects.toMatchObject({
      code: 'validationError',
    });
    const signal = AbortSignal.timeout(300);
    await expect(first(1, client().events({ after: 'latest', signal }))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await service.db('api_keys').where({ organization_id: org.id }).update({ revoked_at: new Date() });
    await expect(first(1, client().events())).rejects.toMatchObject({ code: 'unauthorized' });
    const baseUrl = proxy.baseUrl.replace(/:\d+/, ':1');
    await expect(first(1, client({ baseUrl }).events())).rejects.toBeInstanceOf(NotConnected);
  });
});
