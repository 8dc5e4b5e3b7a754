import { getAddress } from 'viem';
import { violationsEverywhere } from '../support/browser/axe';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { openSite, type Site } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { aTransactionBody, initiate } from '../support/transactionApi';

let site: Site;
let world: PaymentWorld;

beforeAll(async () => {
  site = await openSite();
  world = await makePaymentWorld(site.api);
});
afterEach(() => site?.leave());
afterAll(() => site?.stop());

const SUPPLIER = anAddress();
const rows = ({ page }: Visitor) => page.getByRole('table', { name: 'Names of addresses' }).getByRole('row');

/** Another address with the same first and last three digits. */
function lookAlike(address: string): string {
  const other = [...address.slice(5, -3).toLowerCase()].map((digit) => (digit === '0' ? '1' : '0'));
  return getAddress(`${address.slice(0, 5)}${other.join('')}${address.slice(-3)}`.toLowerCase());
}

/** How far the page is wider than the screen of a phone, in pixels. */
async function overflowOn({ page }: Visitor): Promise<number> {
  await page.setViewportSize({ width: 390, height: 900 });
  const width = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  await page.setViewportSize({ width: 1_440, height: 900 });
  return width as number;
}

describe('the address book', () => {
  it('is filled by an admin, shown to all, changed, imported and saved', async () => {
    const alice = await site.signedIn(world.org.alice, '/address-book');
    const { page } = alice;
    await untilShown(alice, 'No names yet');
    await button(alice, 'Name an address').click();
    await page.getByLabel('Name', { exact: true }).fill('ACME Ltd');
    await page.getByLabel('Address', { exact: true }).fill(SUPPLIER);
    expect(await violationsEverywhere(page)).toEqual([]);
    await button(alice, /^Save$/).click();
    await page.getByRole('rowheader', { name: 'ACME Ltd' }).waitFor();

    await button(alice, 'New name').click();
    await page.getByLabel('Name', { exact: true }).fill('acme ltd');
    await page.getByLabel('Address', { exact: true }).fill(anAddress());
    await button(alice, /^Save$/).click();
    await alert(alice).filter({ hasText: '"acme ltd" is the name of address book entry adr_' }).waitFor();
    await button(alice, 'Cancel').click();

    const csv = (name: string) => ({ name: 'names.csv', mimeType: 'text/csv', buffer: Buffer.from(name) });
    const other = anAddress();
    await page.getByLabel('File of names').setInputFiles(csv(`address,name\n${other},Landlord\n0x12,Bad\n`));
    const refusal = alert(alice).filter({ hasText: 'Nothing was imported: correct these rows' });
    await refusal.getByText('line 3 address: must be an address').waitFor();
    expect(await rows(alice).count()).toBe(2);
    await page.getByLabel('File of names').setInputFiles(csv(`address,name\n${other},=Landlord\n`));
    await untilShown(alice, '1 new name, 0 changed, 0 as before');
    await page.getByRole('rowheader', { name: '=Landlord' }).waitFor();
    expect(await violationsEverywhere(page)).toEqual([]);
    expect(await overflowOn(alice)).toBeLessThanOrEqual(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(alice, 'Save as CSV').click(),
    ]);
    expect(download.suggestedFilename()).toBe('address-book.csv');

    // Somebody else reads it, sees what changes, and changes nothing.
    const dave = await site.signedIn(world.org.dave, '/address-book');
    await dave.page.getByRole('rowheader', { name: '=Landlord' }).waitFor();
    expect(await button(dave, /New name|Import|Change|Remove/).count()).toBe(0);
    await button(alice, 'Remove =Landlord').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await dave.page
      .getByRole('rowheader', { name: '=Landlord' })
      .waitFor({ state: 'detached', timeout: 20_000 });
  });
});

describe('a recipient', () => {
  it('has its name beside it, in the form, in lists and on its page, and what is known of it', async () => {
    const dave = await site.signedIn(world.org.dave, '/new/transfer');
    const { page } = dave;
    await page.getByLabel('Recipient').fill(SUPPLIER);
    await untilShown(
      dave,
      '“ACME Ltd” in the address book, first time: no completed transaction to it before',
    );
    expect(await page.locator(`datalist option[value="${SUPPLIER}"]`).textContent()).toBe(
      'ACME Ltd (address book)',
    );
    await page.getByLabel('Recipient').fill(`eth:${SUPPLIER}`);
    await alert(dave).filter({ hasText: 'This is an address on the network “eth”' }).waitFor();

    const { org, treasury: account, byTwo: policy } = world;
    const { id } = await initiate(
      site.api.http,
      org,
      aTransactionBody(org, { account, policy, to: SUPPLIER }, { value: '20000000000000000' }),
    );
    const alice = await site.signedIn(org.alice, '/requests');
    await alice.page
      .getByText(/^ACME Ltd \(address book, 0x/)
      .first()
      .waitFor();
    await alice.page.goto(`/requests/${id}`);
    const details = section(alice, 'What it does');
    await details.getByText('ACME Ltd', { exact: true }).waitFor();
    await details.getByText('address book, display only').waitFor();
    await details.getByText(/first time: no completed transaction to it before/).waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    expect(await overflowOn(alice)).toBeLessThanOrEqual(0);
  });

  it('that looks like a known one is called out, with the digits that differ, in the form and before it is signed', async () => {
    const poisoned = lookAlike(world.org.alice.wallet.address);
    const dave = await site.signedIn(world.org.dave, '/new/transfer');
    await dave.page.getByLabel('Recipient').fill(poisoned);
    const called = (visitor: Visitor) =>
      visitor.page.locator('[data-notice]', {
        hasText: 'This address looks like one that you know, and is another one',
      });
    await called(dave).getByText('the member “Alice”').waitFor();
    expect(await called(dave).locator('mark').allTextContents()).toEqual([
      poisoned.slice(5, -3),
      world.org.alice.wallet.address.slice(5, -3),
    ]);
    expect(await violationsEverywhere(dave.page)).toEqual([]);
    expect(await overflowOn(dave)).toBeLessThanOrEqual(0);

    const { org, treasury: account, byTwo: policy } = world;
    const { id } = await initiate(
      site.api.http,
      org,
      aTransactionBody(org, { account, policy, to: poisoned }),
    );
    const bob = await site.signedIn(org.bob, `/requests/${id}`);
    await called(bob).getByText('the member “Alice”').waitFor();
    expect(await violationsEverywhere(bob.page)).toEqual([]);
    expect(await overflowOn(bob)).toBeLessThanOrEqual(0);
  });

  it('has an icon of its own, on pages whose policy permits no inline style', async () => {
    const alice = await site.signedIn(world.org.alice, '/members');
    await untilOn(alice, 'Members');
    const icons = alice.page.getByRole('table', { name: 'Members' }).locator('svg[data-icon]');
    await icons.first().waitFor();
    const drawn = await icons.evaluateAll((all) => all.map((one) => one.innerHTML));
    expect(new Set(drawn).size).toBe(world.org.all.length);
  });
});
