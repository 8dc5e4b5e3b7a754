/** @deep */

import { change, proposeChange, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { storeTransaction } from '../support/storedTransactions';
import { itDeep } from '../support/suite';
import { aTransactionBody, createTransaction, initiate, signed } from '../support/transactionApi';
import { until } from '../support/until';

/** A change is shown within 2 s on an idle machine; nothing but its event would show it, however long it took. */
const LIVE = { timeout: 20_000 };
const ETHER = 10n ** 18n;

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
});

/** Asks for a payment under the policy with two approvers, signed by Dave. */
const ask = (value: bigint, more: object = {}, to = anAddress(), of = world) => {
  const { org, treasury: account, byTwo: policy } = of;
  const body = aTransactionBody(org, { account, policy, to }, { value: String(value), ...more });
  return initiate(site.api.http, org, body);
};

/** What has the focus, in its words. */
const focused = ({ page }: Visitor): Promise<string> => page.evaluate('document.activeElement.textContent');

/** The rows of the page of requests. */
const rowsOn = ({ page }: Visitor) => page.getByRole('list', { name: /.+/ }).locator('> li');
const tab = ({ page }: Visitor, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Requests by state' }).getByRole('link', { name });

/** Stores closed transactions of the treasury, older than all others. */
async function storeClosed(count: number, execution_status: 'completed' | 'rejected'): Promise<void> {
  const { org, treasury, byTwo } = world;
  const of = { organizationId: org.id, accountId: treasury.id, policyId: byTwo.id, initiatorId: org.dave.id };
  for (let n = 1; n <= count; n += 1) {
    const id = await storeTransaction(site.api.db, of, { position: BigInt(-n), description: `Old ${n}` });
    const at = new Date(Math.floor(Date.now() / 1_000) * 1_000 - n * 60_000 - 86_400_000);
    await site.api
      .db('approvals')
      .where({ id })
      .update({ created_at: at, expires_at: at, closed_at: at, execution_status });
  }
}

describe('the page of requests', () => {
  it('has transactions and proposals by what is to be done, each row with what one decides by', async () => {
    const { org } = world;
    await ask(2n * ETHER, { description: 'Rent of May' });
    await proposeChange(site.api.http, org, '/accounts/proposals/create', {
      items: [{ name: 'Savings', networkIds: [31337] }],
    });
    const alice = await site.signedIn(org.alice, '/requests');
    await tab(alice, /^Needs you 2$/).waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    const row = rowsOn(alice).filter({ hasText: 'Rent of May' });
    expect(await row.getByRole('link').textContent()).toBe('2 ETH');
    for (const text of [
      'from Treasury on',
      'by Dave',
      'Signed: Dave',
      'Missing: 2 of Alice, Bob and Carol',
    ]) {
      await row.getByText(text).waitFor();
    }
    await alice.page.getByRole('link', { name: 'Create account “Savings”' }).waitFor();
    await tab(alice, 'In progress').click();
    await untilShown(alice, 'Nothing is in progress');
    const dave = await site.signedIn(org.dave, '/requests');
    await untilShown(dave, 'Nothing needs you');
    await tab(dave, /^In progress 2$/).click();
    await rowsOn(dave).filter({ hasText: 'Rent of May' }).waitFor();
  });

  it('is searched and filtered by the service, and the address of the page has what is looked for', async () => {
    const to = anAddress();
    await ask(ETHER / 4n, { description: 'Insurance' }, to);
    const alice = await site.signedIn(world.org.alice, '/requests');
    const { page } = alice;
    await page.getByLabel('Search').fill(to.slice(0, 14).toLowerCase());
    await until('one request is found', async () => (await rowsOn(alice).count()) === 1);
    await page.getByRole('link', { name: '0.25 ETH' }).waitFor();
    await page.getByText('Filters').click();
    await page.getByLabel('Kind').selectOption('Accounts');
    await untilShown(alice, 'No request matches');
    expect(new URL(page.url()).searchParams.get('kind')).toBe('accounts');
    await page.reload();
    await untilShown(alice, 'No request matches');
    await button(alice, 'Clear filters').click();
    await page.getByLabel('Search').fill('insur');
    await page.getByRole('link', { name: '0.25 ETH' }).waitFor();
  });

  it('is filtered by who is missing and by references, which its page shows and changes', async () => {
    const references = { externalId: 'inv-2025-7', tags: ['Insurance'], metadata: { costCenter: '4711' } };
    const { id } = await ask(ETHER / 8n, references);
    const alice = await site.signedIn(world.org.alice, '/requests?tag=insurance');
    const { page } = alice;
    await page.getByRole('link', { name: '0.125 ETH' }).waitFor();
    expect(await rowsOn(alice).count()).toBe(1);
    await page.getByLabel('Tag').fill('');
    await page.getByLabel('Your own id').fill('inv-2025-7');
    await until('it is found by its id', async () => (await rowsOn(alice).count()) === 1);
    await page.getByLabel('Waits for').selectOption('Dave');
    await untilShown(alice, 'No request matches');
    await page.getByLabel('Waits for').selectOption('Bob');
    await page.getByRole('link', { name: '0.125 ETH' }).click();
    await section(alice, 'References').getByText('4711').waitFor();
    await section(alice, 'References').getByRole('button', { name: 'Change' }).click();
    const field = (name: string) => page.getByRole('textbox', { name });
    await field('Tags').fill('Insurance, Office');
    await field('Metadata').fill('costCenter');
    await untilShown(alice, 'Line 1 is not a name, a colon and a value.');
    await field('Metadata').fill('costCenter: 4712\nbooked: yes');
    expect(await violationsEverywhere(page)).toEqual([]);
    await button(alice, 'Save').click();
    await section(alice, 'References').getByText('4712').waitFor();
    await section(alice, 'References').getByRole('link', { name: 'Office' }).waitFor();
    const stored = await site.api.db('transactions').where({ id }).first();
    expect(stored).toMatchObject({ tags: ['Insurance', 'Office'], external_id: 'inv-2025-7' });
  });

  it('has pages of what is done that stay while other things happen', async () => {
    await storeClosed(45, 'completed');
    const alice = await site.signedIn(world.org.alice, '/requests?tab=done');
    await until('the first page is shown', async () => (await rowsOn(alice).count()) === 15);
    await button(alice, 'Older').click();
    await rowsOn(alice).filter({ hasText: 'Old 20' }).waitFor();
    const before = await rowsOn(alice).allTextContents();
    const paid = await createTransaction(
      site.api.http,
      world.org,
      aTransactionBody(
        world.org,
        { account: world.treasury, policy: world.atOnce, to: anAddress() },
        { value: '5' },
      ),
    );
    await signed(site.api.http, world.org, paid, world.org.dave, 'initiator', { execute: true });
    await button(alice, 'Older').click();
    await rowsOn(alice).filter({ hasText: 'Old 40' }).waitFor();
    await alice.page.goBack();
    await rowsOn(alice).filter({ hasText: 'Old 20' }).waitFor();
    const what = (texts: readonly string[]) => texts.map((text) => /Old \d+/.exec(text)?.[0]);
    expect(what(await rowsOn(alice).allTextContents())).toEqual(what(before));
    await button(alice, 'Newest').click();
    await alice.page.getByRole('link', { name: '0.000000000000000005 ETH' }).waitFor(LIVE);
  });

  it('leads with the keyboard from one decision to the next; the wallet shows each', async () => {
    const own = await makePaymentWorld(site.api);
    const visitor = await site.signedIn(own.org.bob, '/requests');
    const values = [3n, 4n, 5n];
    for (const value of values) await ask(value * ETHER, {}, anAddress(), own);
    await until('all are shown', async () => (await rowsOn(visitor).count()) === values.length);
    const { page, wallet } = visitor;
    await rowsOn(visitor).first().getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    expect(await focused(visitor)).toBe('4 ETH');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    for (const value of values) {
      await page.getByRole('heading', { name: new RegExp(`^Send ${value} ETH`), level: 1 }).waitFor();
      await until('it has the focus', async () => (await focused(visitor)) === 'Approve: 1 more after yours');
      await page.keyboard.press('Enter');
      await until('the next has the focus', async () =>
        /^(Next: |Nothing else)/.test(await focused(visitor)),
      );
      expect(wallet.typedData).toHaveLength(Number(value) - 2);
      await page.keyboard.press('Enter');
    }
  });

  itDeep('saves one file with names, the time of execution and the fee', async () => {
    const { page } = await site.signedIn(world.org.alice, '/requests?tab=done&kind=TOKEN_TRANSFER');
    await page.getByRole('button', { name: /^Save as CSV/ }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Save as CSV/ }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    const [heading = '', first = ''] = Buffer.concat(chunks).toString().split('\r\n');
    const cell = (name: string) => first.split(',')[heading.split(',').indexOf(name)];
    expect([cell('account'), cell('policy'), cell('initiator')]).toEqual([
      'Treasury',
      'Small payments',
      'Dave',
    ]);
    expect(Date.parse(cell('executedAt') ?? '')).toBeGreaterThan(0);
    expect(Number(cell('fee'))).toBeGreaterThan(0);
  });
});

describe('the page of a request', () => {
  const open = (id: string, member = world.org.alice) => site.signedIn(member, `/requests/${id}`);

  it('warns beside the button where the simulation fails, and tells what has happened', async () => {
    const { id } = await ask(10n ** 40n);
    const alice = await open(id);
    const decision = section(alice, 'What you sign');
    await decision.getByText('The simulation fails now').waitFor();
    await untilShown(alice, 'Needs your signature');
    const timeline = section(alice, 'Timeline').getByRole('listitem');
    expect(await timeline.count()).toBe(2);
    await timeline.filter({ hasText: 'Dave signed as the initiator' }).waitFor();
    const dave = await open(id, world.org.dave);
    await section(dave, 'What you sign')
      .getByText('The policy “Reviewed payments” does not name you as an approver.')
      .waitFor();
  });

  it('keeps the decision in reach on a phone', async () => {
    const { id } = await ask(ETHER);
    const alice = await open(id);
    await alice.page.setViewportSize({ width: 390, height: 844 });
    const box = await button(alice, 'Approve: 1 more after yours').boundingBox();
    expect(box && box.y > 600 && box.y + box.height <= 844).toBe(true);
  });

  it('of what was refused has its reason in words, and nothing is called done', async () => {
    const { org, treasury: account, atOnce: policy } = world;
    const asked = { value: String(ETHER) };
    const body = () => aTransactionBody(org, { account, policy, to: anAddress() }, asked);
    const first = await createTransaction(site.api.http, org, body());
    const second = await createTransaction(site.api.http, org, body());
    await signed(site.api.http, org, first, org.dave, 'initiator', { execute: true });
    const dave = await open(second.id, org.dave);
    await button(dave, 'Sign and execute').click();
    await untilShown(dave, 'Blocked: The budget is used up');
    await untilShown(dave, 'Recorded, but not executed: the reason is above.');
    expect(await dave.page.getByText('Done.').count()).toBe(0);
    await tab(await site.signedIn(org.dave, '/requests?tab=failed'), 'Failed or blocked').waitFor();
  });

  it('shows the difference of its time, also after it is done and the thing has changed again', async () => {
    const { org } = world;
    const created = await change(site.api.http, org, '/accounts/proposals/create', {
      items: [{ name: 'Petty cash', networkIds: [31337] }],
    });
    const [{ id }] = created.result.resources;
    const rename = (name: string) =>
      change(site.api.http, org, '/accounts/proposals/update', { items: [{ id, name }] });
    const renamed: Shown = await rename('Cash');
    await rename('Coffee');
    const alice = await open(created.id);
    const changes = section(alice, 'What changes');
    await changes.getByRole('row', { name: /^Name Petty cash$/ }).waitFor();
    expect(await changes.getByRole('row', { name: /^Networks/ }).textContent()).toMatch(
      /^NetworksLocal[^,]*$/,
    );
    const bob = await open(renamed.id, org.bob);
    await section(bob, 'What changes').getByRole('row', { name: 'Name Petty cash Cash' }).waitFor();
  });

  itDeep('is repeated with the same account, asset, recipient and exact amount', async () => {
    const to = anAddress();
    const { id } = await ask(1_234_567_891_234_567_891n, { description: 'Again' }, to);
    const alice = await open(id);
    await section(alice, 'What it does').getByText('1.23457 ETH').waitFor();
    await button(alice, 'Repeat').click();
    await untilOn(alice, 'New transfer');
    expect(await alice.page.getByLabel('Amount').inputValue()).toBe('1.234567891234567891');
    expect(await alice.page.getByLabel('Recipient').inputValue()).toBe(to);
  });
});

it('finds in the history of an account what its first page does not have', async () => {
  const { org, treasury, byTwo } = world;
  await storeClosed(60, 'rejected');
  const [to, selector] = [anAddress(), '0x12345678'];
  await storeTransaction(
    site.api.db,
    { organizationId: org.id, accountId: treasury.id, policyId: byTwo.id, initiatorId: org.dave.id },
    {
      position: -1_000n,
      type: 'CONTRACT_INTERACTION',
      description: 'The oldest of all',
      ...{ to, value: 0n, calldata: selector },
      content: { toAddress: to, calldata: selector, networkId: 31_337, value: '0' },
    },
  );
  const alice = await site.signedIn(org.alice, `/accounts/${treasury.id}`);
  await alice.page.getByLabel('Type').selectOption('contract interaction');
  await section(alice, 'History').getByText('The oldest of all').waitFor();
  await section(alice, 'History').getByText('1 to 1 of 1 transactions').waitFor();
});

it('reads the next page of a list that somebody asks for, however often something changes meanwhile', async () => {
  const { org, treasury, atOnce: policy } = world;
  await storeClosed(60, 'rejected');
  const alice = await site.signedIn(org.alice, `/accounts/${treasury.id}`);
  const history = section(alice, 'History');
  const more = history.getByRole('button', { name: 'Next' });
  // The rows of the second page that the service sends are those after the 50th.
  for (const rows of ['1 to 20', '21 to 40']) {
    await history.getByText(new RegExp(`^${rows} of 50 or more`)).waitFor();
    if (rows === '1 to 20') await more.click();
  }
  await more.waitFor();
  await alice.page.route(/\/api\/v1\/transactions\?.*cursor=/, async (route) => {
    const answer = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await route.fulfill({ response: answer });
  });
  let isOver = false;
  const paying = (async () => {
    while (!isOver) {
      await createTransaction(
        site.api.http,
        org,
        aTransactionBody(org, { account: treasury, policy, to: anAddress() }, { value: '1' }),
      );
    }
  })();
  try {
    await more.click();
    await history.getByText(/^41 to 60 of 1\d\d /).waitFor(LIVE);
  } finally {
    isOver = true;
    await paying;
  }
});
