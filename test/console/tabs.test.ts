import type { Page, Request } from 'playwright-core';
import { propose } from '../support/api';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { type EventStream, listen } from '../support/eventStream';
import type { TestMember, TestOrganization } from '../support/service';
import { until } from '../support/until';

const LIVE = { timeout: 20_000 };
const MOST_STREAMS = 4;

let site: Site;
let org: TestOrganization;

siteForTests((opened) => {
  site = opened;
});
// The home names the first few that need its member.
beforeEach(async () => {
  org = await site.api.createOrganization();
});

const isStream = (request: Request) => request.resourceType() === 'eventsource';

/** Hides a tab, or shows it. The browser of the tests shows all of its tabs, so that the page is told what others do. */
const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);

/** Does something in a tab that begins a stream. Returns the address of that once it is open. */
async function untilListens(page: Page, action: () => Promise<unknown>): Promise<string> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => isStream(one.request()) && one.ok()),
    action(),
  ]);
  return response.url();
}

const show = (page: Page) => untilListens(page, () => setVisibility(page, 'visible'));

/** Opens the home in another tab, which listens from then on, and hides the one of before. */
async function openTab(before: Page): Promise<Page> {
  await setVisibility(before, 'hidden');
  const page = await before.context().newPage();
  await untilListens(page, () => page.goto('/'));
  return page;
}

/** Opens the home in a browser. Its tabs begin with `script`. */
async function enter(member: TestMember, script?: string): Promise<Visitor> {
  const visitor = await site.signedIn(member, '/openapi.json');
  if (script !== undefined) await visitor.context.addInitScript(script);
  await untilListens(visitor.page, () => visitor.page.goto('/'));
  return visitor;
}

/** A tab passes nothing on, as one that is frozen. */
const SILENT = 'BroadcastChannel.prototype.postMessage = () => {};';
const WITHOUT_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined });";

/** Waits until a tab shows a proposal that was made elsewhere. */
const untilSeen = (page: Page, name: string) =>
  page
    .getByRole('link', { name: `Create account “${name}”` })
    .first()
    .waitFor(LIVE);

/** How many streams the service still lets a session have. */
async function leftFor({ context }: Visitor): Promise<number> {
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const streams: EventStream[] = [];
  for (let i = 0; i < MOST_STREAMS; i += 1) streams.push(await listen(site.api, { cookie }));
  for (const stream of streams) stream.close();
  return streams.filter(({ status }) => status === 200).length;
}

const untilAllSaw = (pages: readonly Page[], name: string) =>
  Promise.all(pages.map((page) => untilSeen(page, name)));

describe('tabs of one session', () => {
  it('are up to date with their titles, however many there are, with a stream for those that are hidden', async () => {
    const visitor = await enter(org.alice);
    const tabs = [visitor.page];
    for (let last = visitor.page; tabs.length < 6; tabs.push(last)) last = await openTab(last);
    await propose(site.api.http, org, { name: 'Seen by six' });
    await untilAllSaw(tabs, 'Seen by six');
    for (const tab of tabs) expect(await tab.title()).toBe('(1) Home · orgwallet');
    await until('two streams', async () => (await leftFor(visitor)) === MOST_STREAMS - 2);

    const [first, second, ...others] = tabs;
    if (!first || !second) throw new Error('there are six tabs');
    await untilListens(second, () => first.close());
    await setVisibility(others.at(-1) ?? second, 'hidden');
    await until('one stream', async () => (await leftFor(visitor)) === MOST_STREAMS - 1);
    await propose(site.api.http, org, { name: 'Seen by five' });
    await untilAllSaw([second, ...others], 'Seen by five');
  });

  it('read what they missed when they are shown, whatever becomes of the others', async () => {
    const { page: first } = await enter(org.alice, SILENT);
    const second = await openTab(first);
    await setVisibility(second, 'hidden');
    await propose(site.api.http, org, { name: 'Missed first' });
    expect(await show(second)).toMatch(/after=latest$/);
    await untilSeen(second, 'Missed first');
    await propose(site.api.http, org, { name: 'Seen live' });
    await untilSeen(second, 'Seen live');
    await setVisibility(second, 'hidden');
    await propose(site.api.http, org, { name: 'Missed second' });
    expect(await show(second)).toMatch(/after=\d+-[0-9a-f]+$/);
    await untilSeen(second, 'Missed second');
  });

  it('listen each for themselves in a browser without locks', async () => {
    const visitor = await enter(org.bob, SILENT + WITHOUT_LOCKS);
    const tabs = [visitor.page, await openTab(visitor.page)];
    await propose(site.api.http, org, { name: 'Seen without locks' });
    await untilAllSaw(tabs, 'Seen without locks');
    await until('two streams', async () => (await leftFor(visitor)) === MOST_STREAMS - 2);
  });

  it('that are hidden say that the session has ended when they are shown', async () => {
    const { page: first } = await enter(org.bob);
    const second = await openTab(first);
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: /^Sign in with/ }).waitFor();
    await setVisibility(first, 'visible');
    await first.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});
