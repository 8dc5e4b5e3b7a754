import type { Locator } from 'playwright-core';
import { auditFreezes } from '../../activities/reconciler/freezes';
import { createDatabase } from '../../src/db/database';
import { words } from '../cli/command';
import { change, propose, type Shown } from '../support/api';
import { failMutations } from '../support/browser/network';
import { alert, button, permitAnybody, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import type { TestMember } from '../support/service';
import { signIn as beginSession } from '../support/session';
import { aTransactionBody, initiate } from '../support/transactionApi';
import { until } from '../support/until';

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
});

const signInAgain = ({ page }: Visitor) =>
  page
    .getByRole('dialog', { name: 'Your session has ended' })
    .getByRole('button', { name: /^Sign in with/ })
    .click();

/** Ends the sessions of a member as their member does, in another browser. */
async function endSessionsOf(member: TestMember): Promise<void> {
  const other = await beginSession(site.api, member);
  const { data } = (await other.send({ path: '/sessions' })).body;
  for (const { id } of data.filter(({ current }: Shown) => !current)) {
    await other.send({ method: 'DELETE', path: `/sessions/${id}`, idempotencyKey: null });
  }
}

/** Opens the page of a new proposal as one of its approvers. */
async function openProposal(member: TestMember): Promise<Visitor & { proposal: Shown }> {
  const proposal = await propose(site.api.http, world.org);
  return { ...(await site.signedIn(member, `/requests/${proposal.id}`)), proposal };
}

const approveButton = (visitor: Visitor) => button(visitor, 'Approve: 1 more after yours');
const untilApproved = (visitor: Visitor) => untilShown(visitor, '1 of 2 approvals');

describe('a wallet', () => {
  it('that refuses can be asked again', async () => {
    const alice = await openProposal(world.org.alice);
    alice.wallet.answer = 'refuses';
    await approveButton(alice).click();
    await alert(alice).getByText('The request was declined in Test Wallet. Nothing was signed.').waitFor();
    alice.wallet.answer = 'signs';
    await approveButton(alice).click();
    await untilApproved(alice);
  });

  it('that does not answer is waited for until somebody stops', async () => {
    const alice = await openProposal(world.org.alice);
    alice.wallet.answer = 'hangs';
    await approveButton(alice).click();
    await button(alice, 'Stop waiting').click();
    await alert(alice).getByText('Stopped waiting for Test Wallet. Nothing was sent.').waitFor();
    alice.wallet.answer = 'signs';
    await approveButton(alice).click();
    await untilApproved(alice);
  });

  it('on another account is not asked to sign, and signs once the account is chosen', async () => {
    const { alice, bob } = world.org;
    const visitor = await openProposal(alice);
    await visitor.wallet.choose(bob.wallet);
    await approveButton(visitor).click();
    await alert(visitor).getByText(`Select account ${alice.wallet.address} in the wallet`).waitFor();
    expect(visitor.wallet.typedData).toEqual([]);
    await visitor.wallet.choose(bob.wallet, alice.wallet);
    await approveButton(visitor).click();
    await untilApproved(visitor);
  });
});

describe('a wallet on another chain', () => {
  /** Opens the page of a payment that waits for approvals. */
  async function openPayment(member: TestMember): Promise<Visitor> {
    const { org, treasury: account, byTwo: policy } = world;
    const asked = aTransactionBody(org, { account, policy, to: anAddress() });
    const { id } = await initiate(site.api.http, org, asked);
    return site.signedIn(member, `/requests/${id}`);
  }

  it('is asked to go to that of the account, and signs there', async () => {
    const alice = await openPayment(world.org.alice);
    alice.wallet.chainId = 1;
    await approveButton(alice).click();
    await untilApproved(alice);
    expect(alice.wallet.chainId).toBe(31_337);
  });

  it('that it cannot leave says so itself, with how to add the other one', async () => {
    const alice = await openPayment(world.org.alice);
    alice.wallet.chainId = 1;
    alice.wallet.knownChains = [1];
    await approveButton(alice).click();
    const text = alert(alice).getByText('Provided chainId "31337" must match the active chainId "1"');
    await text.waitFor();
    const { name, walletRpcUrl } = networkOf(31_337);
    expect(await text.textContent()).toContain(
      `Test Wallet is not on ${name}. Test Wallet cannot add a network. Use another wallet. Add ${name} to it by hand ` +
        `(chain ID 31337, currency ETH, RPC URL ${walletRpcUrl}), then try again.`,
    );
  });

  const networkOf = (chainId: number) => {
    const found = site.api.config.networks.find(({ id }) => id === chainId);
    if (!found) throw new Error(`no network ${chainId}`);
    return found;
  };

  it('is offered the one of the account with the values of the settings, before the signature', async () => {
    const alice = await openPayment(world.org.alice);
    Object.assign(alice.wallet, { chainId: 1, knownChains: [1], adds: 'adds' });
    await approveButton(alice).click();
    await untilApproved(alice);
    const { name, walletRpcUrl } = networkOf(31_337);
    const methods = alice.wallet.requests.map(({ method }) => method);
    expect(methods.slice(methods.indexOf('wallet_switchEthereumChain'))).toEqual([
      'wallet_switchEthereumChain',
      'wallet_addEthereumChain',
      'eth_chainId',
      'wallet_switchEthereumChain',
      'eth_signTypedData_v4',
    ]);
    const { params = [] } =
      alice.wallet.requests.find(({ method }) => method === 'wallet_addEthereumChain') ?? {};
    expect(params).toEqual([
      {
        chainId: '0x7a69',
        chainName: name,
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: [walletRpcUrl],
      },
    ]);
  });

  it.each([
    ['refuses', 'Adding the network was declined in Test Wallet. Nothing was signed.'],
    ['isBusy', 'Test Wallet has another open request.'],
  ] as const)('that %s to add the other one is not asked to sign', async (adds, text) => {
    const alice = await openPayment(world.org.alice);
    Object.assign(alice.wallet, { chainId: 1, knownChains: [1], adds });
    await approveButton(alice).click();
    await alert(alice).getByText(text).waitFor();
    expect(alice.wallet.typedData).toEqual([]);
  });
});

describe('a vote whose answer does not arrive', () => {
  it.each([
    ['after a 500', 'internalError'],
    ['after the connection broke', 'lostAnswer'],
    ['while the service is not reached', 'unreachable'],
  ] as const)('%s is sent again with the same key and signature', async (_, how) => {
    const alice = await openProposal(world.org.alice);
    const sent = await failMutations(alice.context, /\/signatures$/, how);
    await approveButton(alice).click();
    await untilApproved(alice);
    expect(alice.wallet.typedData).toHaveLength(1);
    expect(sent).toHaveLength(2);
    expect(sent[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it('at all is sent again by hand, with the same key and signature', async () => {
    const alice = await openProposal(world.org.alice);
    const sent = await failMutations(alice.context, /\/signatures$/, 'unreachable', 1_000);
    await approveButton(alice).click();
    await alert(alice).getByText('The service did not answer').waitFor();
    await alice.context.unroute(/\/signatures$/);
    const again = await failMutations(alice.context, /\/signatures$/, 'unreachable', 0);
    await alert(alice).getByRole('button', { name: 'Try again' }).click();
    await untilApproved(alice);
    expect(alice.wallet.typedData).toHaveLength(1);
    expect(sent[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set([...sent, ...again].map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });
});

describe('a request whose answer does not arrive', () => {
  it('is created once, also when the page is loaded again and it is sent once more', async () => {
    const { alice } = world.org;
    const to = anAddress();
    const visitor = await site.signedIn(alice, '/new/transfer');
    const { page, context } = visitor;
    await page.getByLabel('Amount').fill('0.01');
    await page.getByLabel('Recipient').fill(to);
    const path = /\/api\/v1\/transactions$/;
    const sent = await failMutations(context, path, 'lostAnswer', 1_000);
    await button(visitor, 'Create transaction').click();
    await until('it has been sent', async () => sent.length > 1);
    await page.reload();
    // A part of a page that is on its way when the last route goes does not arrive.
    await button(visitor, 'Create transaction').waitFor();
    await context.unroute(path);
    await button(visitor, 'Create transaction').click();
    await page.waitForURL('**/requests/txn_*');
    const own = await site.api.http.send({ key: world.org.readKey, path: '/api/v1/transactions' });
    expect(own.body.data.filter((one: Shown) => one.to === to)).toHaveLength(1);
  });
});

describe('a connection that is lost', () => {
  it('is shown until the service is reached again, and what was asked for is read then', async () => {
    const alice = await site.signedIn(world.org.alice, '/audit');
    const { page } = alice;
    await page.getByText(/^1 to \d+ of \d+/).waitFor();
    await alice.context.setOffline(true);
    await page.getByLabel('Action').fill('account.created');
    await button(alice, 'Apply').click();
    await untilShown(alice, 'The service is unavailable');
    await alice.context.setOffline(false);
    await page.getByText('The service is unavailable').waitFor({ state: 'detached' });
    await page
      .getByRole('listitem')
      .getByText(/^Account “Treasury” created/)
      .first()
      .waitFor();
    expect(await page.getByLabel('Action').inputValue()).toBe('account.created');
  });

  it('is not what a refusal of the service is called', async () => {
    const alice = await site.visit(world.org.alice, '/');
    const { context, page } = alice;
    const refusal = {
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { code: 'rateLimited', message: 'more than 100 requests per second', details: {} } },
    };
    let asked = 0;
    await context.route(/\/api\/v1\/events/, (route) => route.fulfill(refusal));
    await button(alice, 'Sign in with Test Wallet').click();
    await untilOn(alice, 'Home');
    await context.route(/\/session$/, (route) => {
      asked += 1;
      return route.fulfill(refusal);
    });
    await until('the page has looked for its session twice', async () => asked > 1);
    expect(await page.getByText('The service is unavailable').count()).toBe(0);
  });
});

describe('a request with a name that is changed elsewhere', () => {
  it('says that it can no longer be executed, for as long as the name differs', async () => {
    const { org, treasury: account, byTwo: policy } = world;
    const { http } = site.api;
    const { id } = await initiate(http, org, aTransactionBody(org, { account, policy, to: anAddress() }));
    const rename = (name: string) =>
      change(http, org, '/accounts/proposals/update', { items: [{ id: account.id, name }] });
    const alice = await site.signedIn(org.alice, `/requests/${id}`);
    await approveButton(alice).waitFor();
    await rename('Vault');
    await untilShown(alice, 'It can no longer be executed: a name in it has changed');
    await alice.page.getByRole('listitem').getByText('“Treasury” is now “Vault”.').waitFor();
    await rename('Treasury');
    await alice.page.getByText('It can no longer be executed').waitFor({ state: 'detached' });
  });
});

describe('a session that ends', () => {
  it('loses nothing that was typed', async () => {
    const dave = await site.visit(world.org.dave, '/new/transfer');
    const { page } = dave;
    await button(dave, 'Sign in with Test Wallet').click();
    const to = anAddress();
    await page.getByLabel('Amount').fill('1.25');
    await page.getByLabel('Recipient').fill(to);
    await endSessionsOf(world.org.dave);
    await signInAgain(dave);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Amount').inputValue()).toBe('1.25');
    expect(await page.getByLabel('Recipient').inputValue()).toBe(to);
    await page.reload();
    expect(await page.getByLabel('Amount').inputValue()).toBe('1.25');
  });

  it('while a policy is typed loses nothing, and the proposal is created after signing in again', async () => {
    const { alice } = world.org;
    const visitor = await site.visit(alice, '/new/policies');
    const { page } = visitor;
    await button(visitor, 'Sign in with Test Wallet').click();
    await page.getByLabel('Name').fill('Petty cash');
    await page.getByLabel('Network').selectOption('31337');
    await permitAnybody(visitor);
    await page.getByLabel('Amount threshold').fill('0.25');
    const json = { error: { code: 'unauthorized', message: 'the session has ended' } };
    await visitor.context.route(
      '**/policies/proposals/add',
      (route) => route.fulfill({ status: 401, json }),
      {
        times: 1,
      },
    );
    await button(visitor, 'Create proposal').click();
    await signInAgain(visitor);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Petty cash');
    expect(await page.getByLabel('Amount threshold').inputValue()).toBe('0.25');
    await page.reload();
    expect(await page.getByLabel('Amount threshold').inputValue()).toBe('0.25');
    await button(visitor, 'Create proposal').click();
    await untilOn(visitor, 'Add policy “Petty cash”');
    await page.goto('/new/policies');
    expect(await page.getByLabel('Name').inputValue()).toBe('');
  });

  it('shows nothing of what was typed to another member who signs in', async () => {
    const { alice, bob } = world.org;
    const visitor = await site.visit(alice, '/new/transfer');
    const { page, wallet } = visitor;
    await button(visitor, 'Sign in with Test Wallet').click();
    await page.getByLabel('Amount').fill('1.25');
    await endSessionsOf(alice);
    await wallet.choose(bob.wallet);
    await page.getByRole('link', { name: 'Sign in as another member' }).click();
    await button(visitor, 'Sign in with Test Wallet').click();
    await page.getByRole('banner').getByRole('link', { name: 'Bob' }).waitFor();
    await page.goto('/new/transfer');
    expect(await page.getByLabel('Amount').inputValue()).toBe('');
  });

  it('while the page connects again to the events leaves no second stream behind', async () => {
    // The home names the first few that need its member.
    const org = await site.api.createOrganization();
    const visitor = await site.visit(org.alice);
    const { page, context } = visitor;
    await button(visitor, 'Sign in with Test Wallet').waitFor();
    const events = '**/api/v1/events?*';
    await context.route(events, (route) => route.fulfill({ status: 503 }));
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const json = { error: { code: 'unauthorized', message: 'the session has ended' } };
    const session = /\/session$/;
    await context.route(session, async (route) => {
      if (route.request().method() !== 'GET') return route.fallback();
      await released;
      return route.fulfill({ status: 401, json });
    });
    const asked = page.waitForRequest((one) => session.test(one.url()) && one.method() === 'GET');
    await button(visitor, 'Sign in with Test Wallet').click();
    await asked;
    await context.route('**/api/v1/**', (route) => route.fulfill({ status: 401, json }), { times: 1 });
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    const streams: string[] = [];
    context.on('request', (one) => {
      if (one.url().includes('/api/v1/events')) streams.push(one.url());
    });
    const answered = page.waitForResponse((one) => session.test(one.url()));
    release();
    await answered;
    await context.unroute(session);
    await context.unroute(events);
    // What happens before the stream is open, and after the page has been read, is seen as well.
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    await context.route(events, async (route) => {
      await opened;
      await route.continue();
    });
    await signInAgain(visitor);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Home' }).click();
    await untilOn(visitor, 'Home');
    await propose(site.api.http, org, { name: 'Seen before' });
    open();
    await page.getByRole('link', { name: 'Create account “Seen before”' }).first().waitFor();
    await propose(site.api.http, org, { name: 'Seen live' });
    await page.getByRole('link', { name: 'Create account “Seen live”' }).first().waitFor();
    expect(streams).toHaveLength(1);
  });

  it('because its member is removed does not begin again', async () => {
    const { org } = world;
    const dave = await site.signedIn(org.dave);
    await untilOn(dave, 'Home');
    await change(site.api.http, org, '/members/proposals/remove', { ids: [org.dave.id] });
    await signInAgain(dave);
    // The page below may report as well that it is not signed in any more.
    const refusal = dave.page.getByRole('dialog').getByRole('alert');
    await refusal.filter({ hasText: 'member' }).waitFor();
  });
});

describe('a payment over its budget', () => {
  it('is blocked with the reason', async () => {
    const { org, treasury: account, atOnce: policy } = world;
    const body = { value: '800000000000000000', initiatorWalletAddress: org.alice.wallet.address };
    const { http } = site.api;
    const create = async () => {
      const asked = aTransactionBody(org, { account, policy, to: anAddress() }, body);
      return (await http.send({ key: org.readKey, path: '/api/v1/transactions', body: asked })).body.data;
    };
    const [first, second] = [await create(), await create()];
    const alice = await site.signedIn(org.alice, `/requests/${first.id}`);
    await button(alice, 'Sign and execute').click();
    await untilShown(alice, 'It was executed as it was signed.');
    await alice.page.goto(`/requests/${second.id}`);
    await section(alice, 'Policy evaluation').getByText('does not permit it').waitFor();
    await button(alice, 'Sign and execute').click();
    await alice.page
      .locator('[data-status]')
      .getByText(/budget|limit/i)
      .first()
      .waitFor();
  });
});

describe('a request that expires', () => {
  it('while it is looked at cannot be signed any more', async () => {
    const proposal = await propose(site.api.http, world.org);
    const alice = await site.visit(world.org.alice);
    await alice.page.clock.install();
    await button(alice, 'Sign in with Test Wallet').click();
    await untilOn(alice, 'Home');
    await alice.page.goto(`/requests/${proposal.id}`);
    await approveButton(alice).waitFor();
    await alice.page.clock.fastForward(8 * 24 * 3_600_000);
    await untilShown(alice, 'It can no longer be signed.');
    expect(await button(alice, /Approve|Reject/).count()).toBe(0);
  });
});

describe('a frozen organization', () => {
  it('is shown as frozen until it is not any more', async () => {
    const { api } = site;
    const org = await api.createOrganization();
    const serviceDb = createDatabase(api.env.DATABASE_URL ?? '', { poolMax: 1 });
    const alice = await site.signedIn(org.alice);
    await untilShown(alice, 'Nothing waits for you');
    await words(api.env, 'freeze', '--org', org.id);
    await auditFreezes(serviceDb);
    await untilShown(alice, /^Frozen since/);
    await words(api.env, 'unfreeze', '--org', org.id);
    await auditFreezes(serviceDb).finally(() => serviceDb.destroy());
    await alice.page.getByText(/^Frozen since/).waitFor({ state: 'detached' });
  });
});

/** Presses Tab until an element has the focus. Throws Error when it does not get it. */
async function tabTo({ page }: Visitor, element: Locator): Promise<void> {
  const focused = element.and(page.locator(':focus'));
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focused.count()) > 0) return;
  }
  throw new Error('the element is not reached with 60 presses of Tab');
}

describe('the keyboard alone', () => {
  it('signs in, opens a request and approves it', async () => {
    await propose(site.api.http, world.org, { name: 'By keyboard' });
    const alice = await site.visit(world.org.alice);
    const press = async (element: Locator) => {
      await element.waitFor();
      await tabTo(alice, element);
      await alice.page.keyboard.press('Enter');
    };
    await press(button(alice, 'Sign in with Test Wallet'));
    await press(alice.page.getByRole('link', { name: 'Create account “By keyboard”' }));
    await press(approveButton(alice));
    await untilApproved(alice);
  });
});
