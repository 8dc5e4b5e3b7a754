import { randomBytes } from 'node:crypto';
import { appendAudit } from '../../src/db/audit';
import { OPERATOR } from '../../src/domain/actor';
import { eventTypes } from '../../src/domain/eventTypes';
import { propose, type Shown, sharedApi } from '../support/api';
import { type EventStream, type ListensAs, listen } from '../support/eventStream';
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

async function opened(
  as: ListensAs = alice,
  headers: Record<string, string> = {},
  query?: string,
): Promise<EventStream> {
  const stream = await listen(api, as, headers, query);
  streams.push(stream);
  return stream;
}

/** Records something that happens in an organization. */
function happen(times = 1, of = org) {
  const entry = {
    action: 'member.registered',
    actor: OPERATOR,
    resourceType: 'member',
    resourceId: of.alice.id,
    details: { nonce: 'secret', walletAddress: '0x' },
  } as const;
  return api.db.transaction((tx) =>
    appendAudit(
      tx,
      of.id,
      Array.from({ length: times }, () => entry),
    ),
  );
}

const types = (stream: EventStream) => stream.events.map(({ data }) => data.type);
const feed = (query = '', key = org.readKey) => api.http.send({ key, path: `/api/v1/events${query}` });

/** Everything that has happened, page by page. */
async function everything(of = org, limit = 100): Promise<Shown[]> {
  const events: Shown[] = [];
  for (let after = '0'; ; ) {
    const { body } = await feed(`?after=${after}&limit=${limit}`, of.readKey);
    events.push(...body.data);
    if (!body.pagination.hasMore) return events;
    after = body.pagination.cursor;
  }
}

const cursorOf = ({ position, hash }: Shown) => `${position}-${hash}`;

describe('GET /events', () => {
  it('is the audit log, in its order, with states and ids alone', async () => {
    const of = await api.createOrganization();
    const proposal = await propose(api.http, of);
    await sign(api.http, of.adminKey, proposal, of.alice);
    await happen(1, of);
    const events = await everything(of, 3);
    const log = await api.http.send({ key: of.readKey, path: '/api/v1/audit-logs?limit=100' });
    const entries = [...log.body.data].reverse();
    expect(
      events.map(({ id, type, position, hash, previousHash }) => [id, type, position, hash, previousHash]),
    ).toEqual(
      entries.map(({ id, action, position, hash, previousHash }) => [
        id,
        action,
        position,
        hash,
        previousHash,
      ]),
    );
    const [created, signed, registered] = events.slice(-3);
    expect(created).toEqual({
      ...{
        position: created.position,
        hash: created.hash,
        previousHash: created.previousHash,
        id: created.id,
      },
      organizationId: of.id,
      type: 'proposal.created',
      occurredAt: entries.at(-3).createdAt,
      resource: { type: 'proposal', id: proposal.id, uri: `/api/v1/proposals/${proposal.id}` },
      actor: entries.at(-3).actor,
      data: {
        resourceType: 'accounts',
        action: 'create',
        expiresAt: proposal.expiresAt,
      },
    });
    expect(signed.data).toEqual({
      ...{ resourceType: 'accounts', action: 'create', type: 'approve' },
      signatureStatus: { before: 'pendingReviewSignatures', after: 'pendingReviewSignatures' },
    });
    expect(registered.data).toEqual({});
  });

  it('goes on after a cursor, a position, or what there is now', async () => {
    const before = await everything();
    const latest = await feed('?after=latest');
    expect(latest.body).toEqual({
      data: [],
      pagination: { cursor: cursorOf(before.at(-1)), hasMore: false },
    });
    await happen(3);
    const { body } = await feed(`?after=${latest.body.pagination.cursor}&limit=2`);
    expect([body.data.length, body.pagination.hasMore]).toEqual([2, true]);
    const rest = await feed(`?after=${body.pagination.cursor}`);
    expect([rest.body.data.length, rest.body.pagination.hasMore]).toEqual([1, false]);
    const byPosition = await feed(`?after=${before.at(-1).position}`);
    expect(byPosition.body.data).toEqual([...body.data, ...rest.body.data]);
    expect((await feed('?limit=3', org.adminKey)).body.data).toEqual(before.slice(0, 3));
  });

  it('has only the types that are asked for, and is known up to its end', async () => {
    const of = await api.createOrganization();
    await happen(600, of);
    const end = (await feed('?after=latest', of.readKey)).body.pagination.cursor;
    const { body } = await feed('?types=organization.created,apiKey.issued', of.readKey);
    expect(body.data.map(({ type }: Shown) => type).sort()).toEqual([
      ...['apiKey.issued', 'apiKey.issued', 'organization.created'],
    ]);
    expect(body.pagination).toEqual({ cursor: end, hasMore: false });
  });

  it.each([
    ['after=999999', 'after', 'is ahead of the log, which ends at'],
    ['after=-1', 'after', '<position>-<hash>'],
    ['after=1-5e', 'after', '<position>-<hash>'],
    ['after=', 'after', '<position>-<hash>'],
    ['types=proposal.signed,proposal.sung', 'types', 'has no such type: "proposal.sung"'],
    ['types=', 'types', 'has no such type: ""'],
    ['wait=26', 'wait', '0 to 25'],
    ['wait=x', 'wait', '0 to 25'],
    ['limit=101', 'limit', '1 to 100'],
  ])('refuses %s', async (query, field, message) => {
    const { status, body } = await feed(`?${query}`);
    expect([status, body.error.details?.field]).toEqual([400, field]);
    expect(body.message).toContain(message);
  });

  it('refuses a cursor of another organization, and says 410 for one that the log has lost', async () => {
    const other = await api.createOrganization();
    const theirs = (await everything(other)).at(-1);
    const foreign = await feed(`?after=${cursorOf(theirs)}`);
    expect([foreign.status, foreign.body.message]).toEqual([400, 'after: is of another organization']);
    const own = await everything();
    const lost = `${own.length + 5}-${'5e'.repeat(32)}`;
    const alone = await feed(`?after=${lost}`);
    expect([alone.status, alone.body.code, alone.body.error.details]).toEqual([
      ...[410, 'gone'],
      { position: '0' },
    ]);
    // What else the caller has says up to where it is certain.
    const changed = `4-${'ab'.repeat(32)}`;
    const with3 = await feed(`?after=${lost},${changed},${cursorOf(own[2])},${cursorOf(own[0])}`);
    expect([with3.status, with3.body.error.details]).toEqual([410, { position: '3' }]);
    expect((await feed(`?after=${changed}`)).status).toBe(410);
  });

  it('waits for an event, as long as it is asked to', async () => {
    const { cursor } = (await feed('?after=latest')).body.pagination;
    const waiting = feed(`?after=${cursor}&wait=20`);
    const filtered = feed(`?after=${cursor}&wait=2&types=transaction.executed`);
    const startedAt = performance.now();
    await happen(1);
    const answer = await waiting;
    expect(answer.body.data.map(({ type }: Shown) => type)).toEqual(['member.registered']);
    expect(answer.body.pagination).toEqual({ cursor: cursorOf(answer.body.data[0]), hasMore: false });
    const none = await filtered;
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    // It knows that there was nothing for it until there.
    expect(none.body).toEqual({ data: [], pagination: answer.body.pagination });
  });

  it('refuses a request that waits once its key is revoked', async () => {
    const of = await api.createOrganization();
    const waiting = feed('?after=latest&wait=20', of.readKey);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await api.db('api_keys').where({ organization_id: of.id }).update({ revoked_at: new Date() });
    expect((await waiting).status).toBe(401);
  });
});

describe('the stream of events', () => {
  it('reports what happens in its organization, within two seconds, to all who listen', async () => {
    const other = await api.createOrganization();
    const bob = await signIn(api, org.bob);
    const foreign = await signIn(api, other.alice);
    const [one, two, three] = [await opened(), await opened(bob), await opened(foreign)];
    const program = await opened({ key: org.readKey });
    expect([one.status, one.headers['content-type'], one.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-store',
    ]);
    const proposal = await propose(api.http, org);
    const event = await one.next('message');
    const [shown] = (await everything()).slice(-1);
    expect(event).toEqual({ type: 'message', id: cursorOf(shown), data: shown });
    await two.next('message');
    await sign(api.http, org.adminKey, proposal, org.alice);
    await until('all have both', async () => one.events.length + two.events.length === 4, 2_000);
    expect(types(one)).toEqual(['proposal.created', 'proposal.signed']);
    expect(two.events).toEqual(one.events);
    await until('the program has both', async () => program.events.length === 2, 2_000);
    expect(program.events).toEqual(one.events);
    expect(three.events).toEqual([]);
  });

  it('goes on after the last event that its caller has, however long ago', async () => {
    const first = await opened();
    await until('it has begun', async () => first.lastEventId() !== undefined, 2_000);
    first.close();
    await happen(1_203);
    const resumed = await opened(alice, { 'last-event-id': String(first.lastEventId()) });
    await until('what was missed has come', async () => resumed.events.length === 1_203, 5_000);
    expect(resumed.events.map(({ data }) => data)).toEqual((await everything()).slice(-1_203));
    const again = await opened(alice, { 'last-event-id': String(resumed.events[1_200]?.id) });
    await until('what was missed has come', async () => again.events.length === 2, 2_000);
    expect(again.events).toEqual(resumed.events.slice(1_201));
    await happen(1);
    await until('what is new comes', async () => again.events.length === 3, 2_000);
  });

  it('has everything from the first event on, or the types that are asked for', async () => {
    const of = await api.createOrganization();
    const all = await opened({ key: of.readKey }, {}, '');
    await until('all has come', async () => all.events.length === (await everything(of)).length, 2_000);
    const some = await opened({ key: of.readKey }, {}, 'types=organization.created,member.registered');
    await some.next('message');
    await happen(1, of);
    await until('both have come', async () => some.events.length === 2, 2_000);
    expect(types(some)).toEqual(['organization.created', 'member.registered']);
  });

  it('is refused where it cannot go on', async () => {
    const lost = await opened(alice, { 'last-event-id': `7-${'5e'.repeat(32)}` });
    expect(lost.status).toBe(410);
    expect((await opened(alice, { 'last-event-id': 'x' })).status).toBe(400);
    expect((await opened(alice, {}, 'after=99999999')).status).toBe(400);
    // A stream that has not had an event yet.
    expect((await opened(alice, { 'last-event-id': '' })).status).toBe(200);
  });

  it('ends, without an event of another history, when the log loses what it has shown', async () => {
    const of = await api.createOrganization();
    const stream = await opened({ key: of.readKey });
    await happen(2, of);
    await until('both have come', async () => stream.events.length === 2, 2_000);
    // A backup of before: as if both had never been, and another one comes in the place of the first.
    const [head] = await everything(of).then((events) => events.slice(-3));
    await api.db.raw('ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only');
    await api.db.transaction(async (tx) => {
      await tx('audit_log').where({ organization_id: of.id }).where('position', '>', head.position).delete();
      await tx('audit_heads')
        .where({ organization_id: of.id })
        .update({ position: head.position, hash: head.hash });
    });
    await api.db.raw('ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only');
    await happen(4, of);
    await until('it has ended', async () => stream.ended(), 3_000);
    expect(stream.events).toHaveLength(2);
    const again = await opened({ key: of.readKey }, { 'last-event-id': String(stream.lastEventId()) });
    expect(again.status).toBe(410);
    const common = cursorOf(head);
    const refused = await feed(`?after=${stream.lastEventId()},${common}`, of.readKey);
    expect(refused.body.error.details).toEqual({ position: head.position });
    expect((await feed(`?after=${common}`, of.readKey)).body.data).toHaveLength(4);
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

  it('does not count as use of a session', async () => {
    const browser = await signIn(api, org.alice);
    const { id } = browser.session;
    const long = new Date(Date.now() - 20 * 60_000);
    await api.db('sessions').where({ id }).update({ last_used_at: long });
    const stream = await opened(browser);
    await happen();
    await stream.next('message');
    const row = await api.db('sessions').where({ id }).first('last_used_at');
    expect(row?.last_used_at).toEqual(long);
  });

  it('is one of four at most of a session, and of sixteen of a key', async () => {
    const browser = await signIn(api, org.dave);
    const all = await Promise.all(Array.from({ length: 6 }, () => opened(browser)));
    const refused = all.filter(({ status }) => status === 429);
    expect([refused.length, refused[0]?.headers['retry-after']]).toEqual([2, '1']);
    all.find(({ status }) => status === 200)?.close();
    await until('there is room again', async () => (await opened(browser)).status === 200, 2_000);
    expect((await opened(await signIn(api, org.dave))).status).toBe(200);
    const of = await api.createOrganization();
    const programs = await Promise.all(Array.from({ length: 17 }, () => opened({ key: of.readKey })));
    expect(programs.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  it('is refused without a credential, and to another page', async () => {
    expect((await opened({ cookie: '' })).status).toBe(401);
    expect((await opened({ key: randomBytes(32).toString('base64url') })).status).toBe(401);
    expect((await opened(alice, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const headers = { accept: 'text/event-stream' };
    const head = await api.http.send({ key: org.readKey, path: '/api/v1/events', method: 'HEAD', headers });
    expect([head.status, head.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  });
});

it('has every action that the audit log has by now', async () => {
  const actions: string[] = await api.db('audit_log').distinct('action').pluck('action');
  expect(actions.filter((action) => !eventTypes.some((type) => type === action))).toEqual([]);
});
