/** @deep */
import { violationsEverywhere } from '../support/browser/axe';
import { type LargeWorld, makeLargeWorld } from '../support/browser/largeWorld';
import { untilOn, untilShown } from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { itDeep } from '../support/suite';
import { until } from '../support/until';

const PHONE = { width: 390, height: 844 };
const MOST_SCREENS = 3;

let site: Site;
let world: LargeWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makeLargeWorld(site.api);
}, 300_000);

/** Waits until everything that a page shows has been read. */
async function untilLoaded({ page }: Visitor): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  const loading = page.getByRole('status').filter({ hasText: /^Loading/ });
  await until('the page is loaded', async () => (await loading.count()) === 0);
}

/** The first column of the only table. */
const namesOn = ({ page }: Visitor): Promise<string[]> => page.getByRole('rowheader').allTextContents();

describe('a page of a large organization', () => {
  itDeep('is never longer than three screens of a phone', async () => {
    const alice = await site.signedIn(world.org.alice, '/', { viewport: PHONE });
    const paths = [
      ...['/', '/requests', '/requests?tab=ready', '/requests?tab=progress', '/accounts', '/policies'],
      ...['/members', '/groups', '/admins', '/audit', '/rescue', '/you', '/fees', '/movements'],
      `/accounts/${world.treasury.id}/statement`,
      `/accounts/${world.treasury.id}?view=movements`,
      ...[`/accounts/${world.treasury.id}`, `/groups/${world.everybody.id}`, `/policies/${world.atOnce.id}`],
    ];
    const long: string[] = [];
    for (const path of paths) {
      await alice.page.goto(path);
      await untilLoaded(alice);
      const height: number = await alice.page.evaluate('document.documentElement.scrollHeight');
      const screens = height / PHONE.height;
      if (screens > MOST_SCREENS) long.push(`${path}: ${screens.toFixed(1)} screens`);
    }
    expect(long).toEqual([]);
  });
});

describe('a list', () => {
  it('of members is searched, filtered, sorted and paged, by keyboard too', async () => {
    const alice = await site.signedIn(world.org.alice, '/members');
    const { page } = alice;
    await untilShown(alice, '1 to 20 of 30 members');
    const names = await namesOn(alice);
    expect(names).toEqual(
      [...names].sort((one, two) => one.localeCompare(two, undefined, { numeric: true })),
    );
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    await untilShown(alice, '21 to 30 of 30 members');
    await page.getByLabel('Sort by').selectOption('-Name');
    await untilShown(alice, '1 to 20 of 30 members');
    expect((await namesOn(alice))[0]).toMatch(/^Person \d+$/);
    await page.getByLabel('Group').selectOption({ label: 'Finance' });
    expect(await namesOn(alice)).toEqual(['Carol', 'Bob', 'Alice']);
    await page.getByLabel('Search by name, address or id').fill('car');
    expect(await namesOn(alice)).toEqual(['Carol']);
    await page.getByLabel('Search by name, address or id').fill('nobody');
    await page.getByRole('button', { name: 'Show all members' }).click();
    await untilShown(alice, '1 to 20 of 30 members');
    expect(await violationsEverywhere(page)).toEqual([]);
  });

  it('of policies is found by what they say', async () => {
    const alice = await site.signedIn(world.org.alice, '/policies');
    const { page } = alice;
    await untilShown(alice, '1 to 20 of 25 policies');
    await page.getByLabel('Approval').selectOption('not needed');
    expect(await namesOn(alice)).toEqual(['Small payments']);
    await page.getByLabel('Approval').selectOption('all');
    await page.getByLabel(/^Search/).fill('any transaction');
    expect(await namesOn(alice)).toEqual(['Reviewed payments']);
    expect(await violationsEverywhere(page)).toEqual([]);
  });

  it('of groups leads to the page of each', async () => {
    const alice = await site.signedIn(world.org.alice, '/groups');
    await alice.page.getByLabel('Search by name, member or id').fill('finance');
    expect(await namesOn(alice)).toEqual(['Finance']);
    await alice.page.getByRole('link', { name: 'Finance', exact: true }).click();
    await untilOn(alice, 'Finance');
    await alice.page.getByRole('link', { name: 'Reviewed payments' }).waitFor();
    expect(await namesOn(alice)).toEqual(['Alice', 'Bob', 'Carol']);
  });

  it('of accounts has the networks to choose from', async () => {
    const alice = await site.signedIn(world.org.alice, '/accounts');
    await alice.page.getByRole('link', { name: 'Account 15' }).waitFor();
    expect((await namesOn(alice)).slice(0, 3)).toEqual(['Account 2', 'Account 3', 'Account 4']);
    await alice.page.getByLabel('Search by name, address or id').fill(world.treasury.address);
    expect(await namesOn(alice)).toEqual(['Treasury']);
  });
});
