import { readFileSync } from 'node:fs';
import { encodeAbiParameters, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { putCode } from '../chain/wallets';
import { makeAccount, read, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { answer, loggingToken, logTransfer } from '../support/contracts';
import { sendFromFunder } from '../support/funder';
import { LOCAL_FUNDER, rpc, sharedStack } from '../support/stack';
import { until } from '../support/until';

/** A change is shown within 2 s on an idle machine; nothing but its event would show it. */
const LIVE = { timeout: 45_000 };
const PHONE = { width: 390, height: 844 };
const MOST_SCREENS = 3;
const ETHER = 10n ** 18n;

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
  const { org } = world;
  const entry = { name: 'The bank', address: LOCAL_FUNDER.address, networkId: null };
  await site.api.http.send({ key: org.adminKey, path: '/api/v1/address-book', body: entry });
});

const chain = () => {
  const [first] = sharedStack().chains;
  if (!first) throw new Error('no chain');
  return first;
};
const send = (to: string, of: { value?: Hex; data?: Hex }) => sendFromFunder(chain().rpcUrl, { to, ...of });
const pay = ({ address }: Shown, value: bigint) => send(address, { value: `0x${value.toString(16)}` });
const payToken = ({ address }: Shown, amount: bigint) =>
  send(chain().token.address, {
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, amount] }),
  });
const newAccount = (name: string) =>
  makeAccount(site.api.http, world.org, { name, networkIds: [chain().chainId] });

/** Waits until so many movements of an account are confirmed. */
const confirmed = ({ id }: Shown, count: number, query = '?limit=100') =>
  until(`${count} movements are confirmed`, async () => {
    const path = `/api/v1/accounts/${id}/movements${query}`;
    const found: Shown[] = await read(site.api.http, world.org.readKey, path);
    return found.length === count && found.every(({ status }) => status === 'confirmed') && found;
  });

/** How many screens of a phone a page is high; it must not be wider than one. */
async function screensOn({ page }: Visitor): Promise<number> {
  await page.setViewportSize(PHONE);
  // Rows become cards, and fewer, with the next frame.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  const height: number = await page.evaluate('document.documentElement.scrollHeight');
  await page.setViewportSize({ width: 1_440, height: 900 });
  return height / PHONE.height;
}

/** A token that calls itself as it likes, and logs what nobody did. */
const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);
const hostile = (seed: string, symbol: string) =>
  putCode(
    chain().rpcUrl,
    seed,
    loggingToken({
      'symbol()': answer(string(symbol)),
      'name()': answer(string('<img src=x>\u202e Ether')),
      'decimals()': answer(`0x${'0'.repeat(64)}`),
    }),
  );

describe('the home', () => {
  it('shows what came in as soon as it is in a block, and from whom', async () => {
    const account = await newAccount('Deposits');
    const dave = await site.signedIn(world.org.dave);
    await untilOn(dave, 'Home');
    await pay(account, ETHER / 4n);
    const movements = section(dave, 'Last movements');
    const row = movements.getByRole('listitem').filter({ hasText: 'Deposits' });
    await row.getByText('0.25 ETH').waitFor(LIVE);
    await row.getByText('The bank').waitFor();
    await row.getByText('Confirmed').waitFor(LIVE);
    expect(await row.textContent()).toMatch(/received \+0\.25 ETH.*from The bankaddress book/);
    expect(await violationsEverywhere(dave.page)).toEqual([]);
    expect(await screensOn(dave)).toBeLessThanOrEqual(MOST_SCREENS);
    await movements.getByRole('link', { name: 'All movements' }).click();
    await untilOn(dave, 'Movements');
    await dave.page.getByRole('rowheader', { name: '0.25 ETH' }).waitFor();
  });
});

describe('the movements of an account', () => {
  it('are beside its transactions, filtered, paged by cursor and saved as a file', async () => {
    const account = await newAccount('Moving');
    for (const value of [1n, 2n, 3n, 4n]) await pay(account, value * ETHER);
    await payToken(account, 5n * ETHER);
    await confirmed(account, 5);
    const dave = await site.signedIn(world.org.dave, `/accounts/${account.id}`);
    const { page } = dave;
    const cursors: string[] = [];
    await dave.context.route(/\/api\/v1\/movements\?/, async (route) => {
      const url = route.request().url();
      if (url.includes('cursor=')) cursors.push(url);
      await route.continue({ url: url.replace('limit=50', 'limit=3') });
    });
    await page.getByRole('link', { name: 'Movements', exact: true }).click();
    await untilShown(dave, '1 to 3 of 3 or more movements');
    await button(dave, 'Next').click();
    await untilShown(dave, '1 to 5 of 5 movements');
    expect(cursors).toHaveLength(1);
    const amounts = () => page.getByRole('rowheader').allTextContents();
    const received = (text: string) => `received +${text}`;
    const shown = section(dave, 'History').getByRole('rowheader');
    expect(await shown.allTextContents()).toEqual(
      ['5 DEMO', '4 ETH', '3 ETH', '2 ETH', '1 ETH'].map((text) => expect.stringContaining(received(text))),
    );
    expect(await violationsEverywhere(page)).toEqual([]);
    expect(await screensOn(dave)).toBeLessThanOrEqual(MOST_SCREENS);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button(dave, /^Save as CSV/).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[1]).toContain(`,in,confirmed,5,DEMO,,${5n * ETHER},`);

    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Direction').selectOption('out');
    await untilShown(dave, 'No movement matches the filters');
    expect(await amounts()).not.toContain('1 ETH');
    await page.getByLabel('Direction').selectOption('in');
    await page.getByLabel('From or to address').fill('0x12');
    await alert(dave).getByText('Invalid address').waitFor();
    await page.getByLabel('From or to address').fill(LOCAL_FUNDER.address);
    await until('the counterparty is in the address', async () =>
      new URL(page.url()).searchParams.get('counterparty')?.startsWith('0x'),
    );
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
      view: 'movements',
      direction: 'in',
    });
    expect(await violationsEverywhere(page)).toEqual([]);
    await button(dave, 'Clear filters').click();
    await untilShown(dave, '1 to 5 of 5 movements');
  });

  it('are shown of unverified tokens only to who asks, and marked', async () => {
    const account = await newAccount('Spammed');
    const most = 2n ** 256n - 1n;
    const [known, endless] = [
      await hostile(`known ${account.id}`, 'DEMO'),
      await hostile(`endless ${account.id}`, `${'W'.repeat(60)}\u202e\u0007<b>`),
    ];
    await send(known, { data: logTransfer(anAddress() as Hex, account.address, 7n) });
    await send(endless, { data: logTransfer(anAddress() as Hex, account.address, most) });
    await send(endless, { data: logTransfer(account.address, anAddress() as Hex, 0n) });
    await until('the tokens are asked what they are, after what came in is read', async () =>
      (await confirmed(account, 3, '?verified=any')).some(({ asset }) => asset.symbol === 'DEMO'),
    );
    const dave = await site.signedIn(world.org.dave, `/accounts/${account.id}?view=movements`);
    const { page } = dave;
    await untilShown(dave, 'No movements yet');
    expect(await violationsEverywhere(page)).toEqual([]);
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Tokens').selectOption('unverified ones too');
    await untilShown(dave, '1 to 3 of 3 movements');
    const rows = section(dave, 'History').getByRole('row');
    await rows.filter({ hasText: 'DEMO' }).getByText('looks like a token that you know').waitFor();
    expect(await page.getByText('unverified token', { exact: true }).count()).toBe(3);
    await rows.getByText('nothing moved: may imitate a counterparty').waitFor();
    await rows.getByText(String(most).replace(/\B(?=(\d{3})+$)/g, '\u202f')).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await violationsEverywhere(page)).toEqual([]);
    expect(await screensOn(dave)).toBeLessThanOrEqual(MOST_SCREENS + 1);
  });
});

describe('the statement of a month', () => {
  it('adds up, is saved, and printed black on white with every row', async () => {
    const account = await newAccount('Stated');
    for (let paid = 1n; paid <= 22n; paid += 1n) await pay(account, paid);
    await payToken(account, 5n * ETHER);
    await confirmed(account, 23);
    const dave = await site.signedIn(world.org.dave, `/accounts/${account.id}?view=movements`, {
      colorScheme: 'dark',
    });
    const { page } = dave;
    await page.getByRole('link', { name: 'Statement of a month' }).click();
    await untilOn(dave, 'Statement of Stated');
    const totals = section(dave, 'Totals').getByRole('row');
    await totals.filter({ hasText: 'DEMO' }).getByText('5 DEMO').first().waitFor();
    const sum = '0.000000000000000253 ETH';
    const none = '0 ETH';
    const cells = await totals.filter({ hasText: sum }).getByRole('cell').allTextContents();
    expect(cells).toEqual([none, sum, none, none, '0', sum]);
    await untilShown(dave, '1 to 20 of 23 movements');
    expect(await violationsEverywhere(page)).toEqual([]);
    expect(await screensOn(dave)).toBeLessThanOrEqual(MOST_SCREENS);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      section(dave, 'Totals')
        .getByRole('button', { name: /^Save as CSV/ })
        .click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines[1]).toContain(',1,22,0,253,0,0,0,253,'.slice(2));
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await until('all rows are there', async () => {
      const rows = section(dave, 'Movements').getByRole('rowheader');
      return (await rows.count()) === 23;
    });
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
  });

  it('says what no movement explains, and in which blocks', async () => {
    const account = await newAccount('Unexplained');
    await pay(account, 5n);
    await confirmed(account, 1);
    await rpc(chain().rpcUrl, 'anvil_setBalance', [account.address, '0x6']);
    await pay(account, 7n);
    await confirmed(account, 2);
    const dave = await site.signedIn(world.org.dave, `/accounts/${account.id}/statement`);
    const difference = section(dave, 'Totals').getByText('+0.000000000000000001 ETH unexplained');
    await difference.waitFor();
    await untilShown(dave, /^\+0\.000000000000000001 ETH in blocks? \d+/);
    expect(await violationsEverywhere(dave.page)).toEqual([]);
    await dave.page.goto(`/accounts/${account.id}`);
    await dave.page.getByText('Balance over 90 days').click();
    await untilShown(dave, 'A part of the balance is unexplained: its statement says in which blocks.');
    expect(await section(dave, 'Balances').getByRole('img').count()).toBe(0);
  });

  it('says how far it is where the period is not read yet', async () => {
    const { treasury } = world;
    const dave = await site.visit(world.org.dave);
    const reason =
      'the period is not read yet: movements on Local chain are read up to block 7, of 2026-01-01';
    await dave.context.route(/\/api\/v1\/.*\/statement/, (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'conflict', message: reason } } }),
    );
    await button(dave, 'Sign in with Test Wallet').click();
    await untilOn(dave, 'Home');
    await dave.page.goto(`/accounts/${treasury.id}/statement`);
    await alert(dave).getByText('No statement of this period yet').waitFor();
    await alert(dave)
      .getByText(`T${reason.slice(1)}.`)
      .waitFor();
    await dave.page.goto(`/accounts/${treasury.id}/statement?month=2999-01`);
    await untilShown(dave, 'No such month');
  });
});

describe('the balance over time', () => {
  it('is drawn from what the chain and the movements say, with its words', async () => {
    const account = await newAccount('Charted');
    await pay(account, ETHER);
    await pay(account, 2n * ETHER);
    await confirmed(account, 2);
    const dave = await site.signedIn(world.org.dave, `/accounts/${account.id}`);
    const { page } = dave;
    await page.getByText('Balance over 90 days').click();
    const name = /^0 ETH before .*, 3 ETH at block \d+; at least 0 ETH, at most 3 ETH$/;
    await page.getByRole('img', { name }).waitFor();
    await untilShown(dave, /backwards through all 2 confirmed movements of 90 days/);
    expect(await violationsEverywhere(page)).toEqual([]);
    expect(await screensOn(dave)).toBeLessThanOrEqual(MOST_SCREENS);
  });
});
