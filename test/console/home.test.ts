/** @deep */
import type { Route } from 'playwright-core';
import { change, makeAccount, propose, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { changeAnswers } from '../support/browser/network';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import type { TestOrganization } from '../support/service';
import { fundOnLocalChain, rpc, sharedStack } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';

/** A change is shown within 2 s on an idle machine; balances are read again every 20 s. */
const LIVE = { timeout: 45_000 };

let site: Site;
let world: PaymentWorld;
let empty: TestOrganization;

siteForTests(async (opened) => {
  site = opened;
  [world, empty] = await Promise.all([makePaymentWorld(site.api), site.api.createOrganization()]);
});

const chainRpcUrl = (chainId = 31_337) =>
  sharedStack().chains.find((one) => one.chainId === chainId)?.rpcUrl ?? '';
const inNavigation = ({ page }: Visitor, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });
const linksIn = (visitor: Visitor, name: string) =>
  section(visitor, name).getByRole('link').allTextContents();

describe('the home of an organization with nothing', () => {
  it('leads an admin through the first steps, a button each, and shows how far each is', async () => {
    const alice = await site.signedIn(empty.alice);
    await untilOn(alice, 'Home');
    const steps = section(alice, 'First steps').getByRole('listitem');
    await steps.first().waitFor();
    expect(await steps.getByRole('heading').allTextContents()).toEqual([
      'Create an account: next',
      'Fund it: not yet',
      'Add a policy: not yet',
      'Send a payment: not yet',
    ]);
    expect(await linksIn(alice, 'First steps')).toEqual(['Create an account', 'Add a policy']);
    await section(alice, 'Needs you').getByText('Nothing waits for you').waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await section(alice, 'First steps').getByRole('link', { name: 'Create an account' }).click();
    await untilOn(alice, 'New proposal: accounts');
    await propose(site.api.http, empty, { name: 'First' });
    await inNavigation(alice, 'Home').click();
    await steps.getByText('Awaiting approvals: 0 of 2 approvals. It needs you.').waitFor();
    expect(await linksIn(alice, 'First steps')).toEqual(['Open the request', 'Add a policy']);
    await section(alice, 'Needs you').getByRole('link', { name: 'Create account “First”' }).waitFor();
  });

  it('shows a request once, whichever of the lists is answered last', async () => {
    const org = await site.api.createOrganization();
    const alice = await site.signedIn(org.alice);
    const { page, context } = alice;
    await page.getByText('Nothing waits for you').waitFor();
    const lists = [/[?&]status=open&/, /[?&]missingMemberId=/, /\/proposals\?limit=/];
    for (const [n, last] of lists.entries()) {
      let answer = () => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const hold = (route: Route) => held.then(() => route.continue());
      await context.route(last, hold);
      const isOther = (url: string) => lists.some((list) => list !== last && list.test(url));
      const read = new Set<string>();
      page.on('response', (response) => isOther(response.url()) && read.add(response.url()));
      const name = `Number ${n}`;
      await propose(site.api.http, org, { name });
      const links = page.getByRole('link', { name: `Create account “${name}”` });
      await links.first().waitFor(LIVE);
      await until('the two others are answered', async () => read.size === 2);
      expect(await links.count()).toBe(1);
      answer();
      await section(alice, 'Needs you')
        .getByRole('link', { name: `“${name}”` })
        .waitFor(LIVE);
      expect(await links.count()).toBe(1);
      await context.unroute(last, hold);
    }
  });

  itDeep('sends somebody who is not an admin to one', async () => {
    const dave = await site.signedIn((await site.api.createOrganization()).dave);
    await section(dave, 'First steps').getByText('Ask an admin: create an account.').waitFor();
    expect(await linksIn(dave, 'First steps')).toEqual([]);
    for (const [path, text] of [
      ['/accounts', 'Ask an admin: create an account.'],
      ['/policies', 'Ask an admin: add a policy.'],
      ['/groups', 'Ask an admin: create a group.'],
      ['/new/transfer', 'Ask an admin: create an account.'],
      ['/new/call', 'Ask an admin: create an account.'],
    ] as const) {
      await dave.page.goto(path);
      await untilShown(dave, text);
    }
  });

  itDeep('has a button on each list for those who may use it', async () => {
    const alice = await site.signedIn((await site.api.createOrganization()).alice);
    for (const [path, name, title] of [
      ['/accounts', 'Create an account', 'New proposal: accounts'],
      ['/policies', 'Add a policy', 'New proposal: policies'],
      ['/groups', 'Create a group', 'New proposal: groups'],
      ['/new/transfer', 'Create an account', 'New proposal: accounts'],
    ] as const) {
      await alice.page.goto(path);
      await alice.page.getByRole('main').getByRole('link', { name }).click();
      await untilOn(alice, title);
    }
  });
});

describe('the home of an organization that pays', () => {
  it('says what needs the member, in the navigation and the title of the tab too, as it changes', async () => {
    const { org, treasury: account, byTwo: policy } = world;
    const bob = await site.signedIn(org.bob);
    await section(bob, 'Needs you').getByText('Nothing waits for you').waitFor();
    expect(await bob.page.title()).toBe('Home · orgwallet');
    // However many others are open.
    await changeAnswers<{ readonly pagination: object }>(bob.context, /\bstatus=(queued|open)\b/, (page) => ({
      ...page,
      pagination: { ...page.pagination, hasMore: true },
    }));
    const ask = () =>
      initiate(
        site.api.http,
        org,
        aTransactionBody(org, { account, policy, to: anAddress() }, { value: '7' }),
      );
    const payment = await ask();
    await section(bob, 'Needs you').getByText('Approve or reject').waitFor(LIVE);
    await inNavigation(bob, 'Requests 1 need you').waitFor();
    expect(await bob.page.title()).toBe('(1) Home · orgwallet');
    await ask();
    await inNavigation(bob, 'Requests 2 need you').waitFor(LIVE);
    for (const vote of [org.alice, org.bob]) {
      await signed(site.api.http, org, payment, vote, 'approve', { execute: vote === org.bob });
    }
    await settledTransaction(site.api.http, org, payment);
    await inNavigation(bob, 'Requests 1 need you').waitFor(LIVE);
    await section(bob, 'Last activity').getByText('Completed').first().waitFor(LIVE);
    expect(await violationsEverywhere(bob.page)).toEqual([]);
  });

  it('adds up what all accounts hold, and follows what comes from outside', async () => {
    const { org } = world;
    const second = await makeAccount(site.api.http, org, { name: 'Second', networkIds: [31_337, 31_338] });
    const dave = await site.signedIn(org.dave);
    const totals = section(dave, 'Balances').getByRole('listitem');
    await totals.filter({ hasText: 'in 1 account' }).first().waitFor();
    const before = await totals.count();
    const read = dave.page.waitForRequest(
      (one) => one.url().endsWith('/api/v1/balances') && !!one.headers()['x-orgwallet-background'],
      LIVE,
    );
    await rpc(chainRpcUrl(), 'anvil_setBalance', [second.address, '0xde0b6b3a7640000']);
    await fundOnLocalChain(chainRpcUrl(31_338), second.address);
    await totals.filter({ hasText: 'in 2 accounts' }).first().waitFor(LIVE);
    expect(await totals.count()).toBeGreaterThan(before);
    // What the page reads by itself does not use the session.
    await read;
  });

  itDeep('shows what they are worth where there are prices, with their time, and why not else', async () => {
    const dave = await site.visit(world.org.dave);
    const at = new Date().toISOString();
    let prices: Shown = { status: 'current', currency: 'USD', at, problem: null, value: '4456.845' };
    await changeAnswers<{ data: Shown }>(dave.context, /\/balances$/, ({ data }) => {
      const value = prices.value === null ? null : { amount: '4456.845', price: '2971.23', at };
      const totals = data.totals.map((total: Shown, index: number) => ({
        ...total,
        value: index === 0 ? value : null,
      }));
      return { data: { ...data, totals, prices } };
    });
    await button(dave, 'Sign in with Test Wallet').click();
    const balances = section(dave, 'Balances');
    await balances
      .getByText(/^≈ 4\u202f456\.85 USD prices of .*, without \d assets? that ha(s|ve) no price$/)
      .waitFor(LIVE);
    await balances.getByTitle(/^4456\.845 USD, at 2971\.23 USD of /).waitFor();
    expect(await violationsEverywhere(dave.page)).toEqual([]);
    prices = { ...prices, status: 'stale', problem: 'PRICES_FILE is older than 24 h', value: null };
    await balances.getByText('PRICES_FILE is older than 24 h.').waitFor(LIVE);
    await balances.getByText(/^No values \(prices of /).waitFor();
    expect(await balances.getByText('≈').count()).toBe(0);
  });

  it('says what is wrong in words', async () => {
    const { org, treasury: account, atOnce: policy } = world;
    const { http } = site.api;
    const create = () =>
      createTransaction(
        http,
        org,
        aTransactionBody(org, { account, policy, to: anAddress() }, { value: '800000000000000000' }),
      );
    const [first, second]: Shown[] = [await create(), await create()];
    for (const one of [first, second]) await signed(http, org, one, org.dave, 'initiator', { execute: true });
    const dave = await site.visit(org.dave);
    // A network that does not answer.
    await changeAnswers<{ data: Shown }>(dave.context, /\/balances$/, ({ data }) => ({
      data: {
        ...data,
        totals: data.totals.filter(({ networkId }: Shown) => networkId !== 31_338),
        missing: [{ networkId: 31_338, assetId: null, accounts: 2, reason: 'unavailable' }],
      },
    }));
    await button(dave, 'Sign in with Test Wallet').click();
    const problems = dave.page.getByRole('region', { name: 'Problems' });
    await problems.getByText('1 request failed or blocked').waitFor(LIVE);
    await problems.getByText('The budget is used up').waitFor();
    await problems.getByText(/: no answer$/).waitFor();
    expect(await violationsEverywhere(dave.page)).toEqual([]);
  });
});

describe('a deposit', () => {
  it('shows the address and its code, and is paid from the wallet of the browser', async () => {
    const { org, treasury } = world;
    await fundOnLocalChain(chainRpcUrl(), org.carol.wallet.address);
    const carol = await site.signedIn(org.carol, `/accounts/${treasury.id}`);
    await carol.page.getByText('Deposit', { exact: true }).click();
    await carol.page.getByRole('img', { name: 'QR code: address of Treasury' }).waitFor();
    const balance = async () =>
      BigInt(await rpc<string>(chainRpcUrl(), 'eth_getBalance', [treasury.address, 'latest']));
    const before = await balance();
    await carol.page.getByLabel('Amount (ETH)').fill('0.25');
    carol.wallet.answer = 'refuses';
    await button(carol, 'Send from Test Wallet').click();
    await alert(carol).getByText('The payment was declined in Test Wallet. Nothing was sent.').waitFor();
    carol.wallet.answer = 'signs';
    await button(carol, 'Send from Test Wallet').click();
    await alert(carol).getByText('Sent', { exact: true }).waitFor();
    expect((await balance()) - before).toBe(250_000_000_000_000_000n);
  });

  itDeep('is not sent on another network than the one that is chosen', async () => {
    const { org, treasury } = world;
    const carol = await site.signedIn(org.carol, `/accounts/${treasury.id}`);
    Object.assign(carol.wallet, { chainId: 1, knownChains: [1] });
    await carol.page.getByText('Deposit', { exact: true }).click();
    await carol.page.getByLabel('Amount (ETH)').fill('0.25');
    await button(carol, 'Send from Test Wallet').click();
    await alert(carol)
      .getByText(/^Test Wallet is not on /)
      .waitFor();
    expect(carol.wallet.requests.filter(({ method }) => method === 'eth_sendTransaction')).toEqual([]);
  });
});

describeDeep('the work of the home', () => {
  it('is bounded: few requests, whatever the number of accounts', async () => {
    const { http } = site.api;
    const org = await site.api.createOrganization();
    const items = Array.from({ length: 27 }, (_, index) => ({
      name: `Account ${index}`,
      networkIds: [31_338],
    }));
    await change(http, org, '/accounts/proposals/create', { items });
    const alice = await site.visit(org.alice);
    const asked: string[] = [];
    alice.page.on('request', (one) => {
      if (one.url().includes('/api/v1/')) asked.push(new URL(one.url()).pathname);
    });
    await button(alice, 'Sign in with Test Wallet').click();
    await untilShown(alice, 'No account holds anything yet');
    expect(asked.filter((path) => path.endsWith('/balances'))).toEqual(['/api/v1/balances']);
    // Each list once, and what each part of the page counts.
    expect(asked.length).toBeLessThanOrEqual(19);
  });
});
