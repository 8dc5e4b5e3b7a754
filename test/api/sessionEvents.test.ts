import { appendAudit } from '../../src/db/audit';
import { OPERATOR } from '../../src/domain/actor';
import { propose, sharedApi } from '../support/api';
import { type EventStream, listen } from '../support/eventStream';
import { sign, type TestOrganization, type TestService } from '../support/service';
import { type Browser, signIn } from '../support/session';
import { until } from '../support/until';

let api: TestService;
let org: TestOrganization;
let alice: Browser;
const streams: EventStream[] = [];

beforeAll(async () => {
  api = await sharedApi();
  org = await api.createOrganization();
  alice = await signIn(api, org.alice);
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(() => api?.stop());

async function opened(browser: Browser = alice, headers: Record<string, string> = {}): Promise<EventStream> {
  const stream = await listen(api, browser, headers);
  streams.push(stream);
  return stream;
}

/** Records something that happens in an organization. */
function happen(times = 1) {
  const entry = {
    action: 'test.happened',
    actor: OPERATOR,
    resourceType: 'test',
    resourceId: org.id,
    details: {},
  };
  return api.db.transaction((tx) =>
    appendAudit(
      tx,
      org.id,
      Array.from({ length: times }, () => entry),
    ),
  );
}

const actions = (stream: EventStream) => stream.events.map(({ data }) => data.action);

describe('the stream of a session', () => {
  it('reports what happens in its organization, within two seconds, to all who listen', async () => {
    const other = await api.createOrganization();
    const bob = await signIn(api, org.bob);
    const foreign = await signIn(api, other.alice);
    const [one, two, three] = [await opened(), await opened(bob), await opened(foreign)];
    expect([one.status, one.headers['content-type'], one.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-store',
    ]);
    const proposal = await propose(api.http, org);
    const event = await one.next('change');
    expect(event.data).toEqual({
      resourceType: 'proposal',
      resourceId: proposal.id,
      action: 'proposal.created',
    });
    await two.next('change');
    await sign(api.http, org.adminKey, proposal, org.alice);
    await until('both have both', async () => one.events.length + two.events.length === 4, 2_000);
    expect(actions(one)).toEqual(['proposal.created', 'proposal.signed']);
    expect(two.events).toEqual(one.events);
    expect(three.events).toEqual([]);
  });

  it('goes on after the last event that the browser has', async () => {
    const first = await opened();
    first.close();
    await happen(3);
    const resumed = await opened(alice, { 'last-event-id': String(first.lastEventId()) });
    await until('what was missed has come', async () => resumed.events.length === 3, 2_000);
    const again = await opened(alice, { 'last-event-id': String(resumed.events[1]?.id) });
    await until('what was missed has come', async () => again.events.length === 1, 2_000);
    expect(again.events).toEqual(resumed.events.slice(2));
  });

  it('begins anew where the last event is too long ago, or not known', async () => {
    await happen(501);
    for (const lastEventId of ['1', '999999999999', '-1', 'x', '']) {
      const stream = await opened(alice, { 'last-event-id': lastEventId });
      await stream.next('reset');
      expect(stream.events).toHaveLength(1);
      stream.close();
      await until('the place is free', async () => stream.ended());
    }
  });

  it.each<[string, (browser: Browser) => Promise<unknown>]>([
    ['signs out', (browser) => browser.send({ path: '/session', method: 'DELETE' })],
    ['is removed', () => api.db('members').where({ id: org.carol.id }).update({ removed_at: new Date() })],
  ])('ends within two seconds when its member %s', async (_, end) => {
    await api.db('members').where({ id: org.carol.id }).update({ removed_at: null });
    const carol = await signIn(api, org.carol);
    const [ending, staying] = [await opened(carol), await opened()];
    await end(carol);
    await ending.next('end');
    await until('it is closed', async () => ending.ended(), 1_000);
    expect(staying.ended()).toBe(false);
  });

  it('does not count as use', async () => {
    const browser = await signIn(api, org.alice);
    const { id } = browser.session;
    const long = new Date(Date.now() - 20 * 60_000);
    await api.db('sessions').where({ id }).update({ last_used_at: long });
    const stream = await opened(browser);
    await happen();
    await stream.next('change');
    const row = await api.db('sessions').where({ id }).first('last_used_at');
    expect(row?.last_used_at).toEqual(long);
  });

  it('is one of four at most', async () => {
    const browser = await signIn(api, org.dave);
    const all = await Promise.all(Array.from({ length: 6 }, () => opened(browser)));
    const refused = all.filter(({ status }) => status === 429);
    expect([refused.length, refused[0]?.headers['retry-after']]).toEqual([2, '1']);
    all.find(({ status }) => status === 200)?.close();
    await until('there is room again', async () => (await opened(browser)).status === 200, 2_000);
    expect((await opened(await signIn(api, org.dave))).status).toBe(200);
  });

  it('is refused without a session, and to another page', async () => {
    expect((await opened({ ...alice, cookie: '' })).status).toBe(401);
    expect((await opened(alice, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await alice.send({ path: '/session/events', method: 'HEAD' })).status).toBe(404);
    expect((await alice.send({ path: '/session/events', method: 'POST' })).status).toBe(404);
  });
});
