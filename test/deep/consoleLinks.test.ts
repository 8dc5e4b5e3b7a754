import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { Locator, Response } from 'playwright-core';
import { change, propose, read, type Shown } from '../support/api';
import { button, section, untilOn } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { openSite, type Site } from '../support/browser/site';
import { anAddress } from '../support/builders';
import { networksFile, sharedStack } from '../support/stack';
import { aTransactionBody, createTransaction, settledTransaction, signed } from '../support/transactionApi';

const EXPLORER = 'https://explorer.example';
const TEMPORAL_UI = 'https://temporal.example/ui';
/** The network with an explorer; the other one has none. */
const EXPLORED = 31_337;
/** A change is shown within 2 s on an idle machine; nothing but its event would show it, however long it took. */
const LIVE = { timeout: 20_000 };

let site: Site;
let world: PaymentWorld;

beforeAll(async () => {
  const networks: Shown[] = JSON.parse(readFileSync(sharedStack().networksFile, 'utf8'));
  const explored = networks.map((one) => (one.id === EXPLORED ? { ...one, explorerUrl: EXPLORER } : one));
  site = await openSite({ NETWORKS_FILE: networksFile(explored), TEMPORAL_UI_URL: TEMPORAL_UI });
  world = await makePaymentWorld(site.api);
});
afterEach(() => site?.leave());
afterAll(() => site?.stop());

/** Asks for a payment of 1 wei that needs no approval; nothing of it is signed yet. */
const askFor = (to: string): Promise<Shown> => {
  const { org, treasury: account, atOnce: policy } = world;
  return createTransaction(site.api.http, org, aTransactionBody(org, { account, policy, to }));
};

async function pay(to: string): Promise<Shown> {
  const { org } = world;
  const asked = await askFor(to);
  await signed(site.api.http, org, asked, org.dave, 'initiator', { execute: true });
  return settledTransaction(site.api.http, org, asked);
}

/** Opens the page of a request. */
const open = ({ id }: Shown, of = world.org.alice) => site.signedIn(of, `/requests/${id}`);
/** Where links lead, as they are written. */
async function hrefsOf(links: Locator): Promise<string[]> {
  await links.first().waitFor();
  return links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
}

describe('a link to a block explorer', () => {
  it('leads from a completed payment to its transaction, in a tab that knows nothing of the page', async () => {
    const paid = await pay(anAddress());
    const { page, context, faults } = await open(paid);
    const asked: (string | undefined)[] = [];
    await context.route(`${EXPLORER}/**`, (route) => {
      asked.push(route.request().headers().referer);
      return route.fulfill({ contentType: 'text/html', body: '<title>Explorer</title>' });
    });
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: paid.result.transactionHash }).click(),
    ]);
    await tab.waitForLoadState();
    const address = `${EXPLORER}/tx/${paid.result.transactionHash}`;
    expect(tab.url()).toBe(address);
    expect(await tab.evaluate('window.opener')).toBeNull();
    expect(asked[0]).toBeUndefined();
    // This request alone left the service, and only because of the click.
    expect((faults as string[]).splice(0)).toEqual([`request to ${address}`]);
  });

  it('is beside the deployments and the address of an account, where the network has one', async () => {
    const { org } = world;
    const both = [EXPLORED, 31_338];
    const proposal = await change(site.api.http, org, '/accounts/proposals/create', {
      items: [{ name: 'Abroad', networkIds: both }],
    });
    const alice = await open(proposal);
    const deployments = section(alice, 'What happened').getByRole('definition');
    await deployments.nth(1).waitFor();
    expect(await deployments.getByText(/^completed 0x/).count()).toBe(2);
    const links = section(alice, 'What happened').getByRole('link');
    const [{ transactionHash }] = proposal.deployments.filter(
      ({ networkId }: Shown) => networkId === EXPLORED,
    );
    expect(await hrefsOf(links)).toEqual([`${EXPLORER}/tx/${transactionHash}`]);

    const [{ id, uri }] = proposal.result.resources;
    const { address } = await read(site.api.http, org.readKey, uri);
    await alice.page.goto(`/accounts/${id}`);
    await untilOn(alice, 'Abroad');
    expect(await hrefsOf(alice.page.getByRole('link', { name: /^Explorer of / }))).toEqual([
      `${EXPLORER}/address/${address}`,
    ]);
  });
});

describe('the link to the Temporal UI', () => {
  it('leads to the workflow of the request', async () => {
    const [proposal, payment] = [await propose(site.api.http, world.org), await askFor(anAddress())];
    const { address, namespace } = site.api.config.temporal;
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection, namespace });
    for (const request of [proposal, payment]) {
      const alice = await open(request);
      const link = alice.page.getByRole('link', { name: /^Workflow in the Temporal UI/ });
      const [href = ''] = await hrefsOf(link);
      const [base = '', id = ''] = href.split('/workflows/');
      expect(base).toBe(`${TEMPORAL_UI}/namespaces/${namespace}`);
      expect((await workflow.getHandle(decodeURIComponent(id)).describe()).status.name).toBe('RUNNING');
    }
    await connection.close();
  });
});

describe('without a setting', () => {
  it('of an explorer or of the Temporal UI there is no link to one', async () => {
    const bare = await openSite();
    try {
      const org = await bare.api.createOrganization();
      const proposal = await change(bare.api.http, org, '/accounts/proposals/create', {
        items: [{ name: 'Treasury', networkIds: [EXPLORED] }],
      });
      const alice = await bare.signedIn(org.alice, `/requests/${proposal.id}`);
      await section(alice, 'What happened')
        .getByText(/^completed 0x/)
        .waitFor();
      const hrefs = await hrefsOf(alice.page.getByRole('link'));
      expect(hrefs.filter((href) => !/^[/#]/.test(href))).toEqual([]);
      await bare.leave();
    } finally {
      await bare.stop();
    }
  });
});

describe('a recipient', () => {
  it('is one of the first time until a payment to it is completed, also on a page that is open', async () => {
    const to = anAddress();
    const [first, second] = [await askFor(to), await askFor(to)];
    const alice = await open(second);
    const details = section(alice, 'What it does');
    await details.getByText(/^unknown address, first time: no completed transaction to it/).waitFor();
    await signed(site.api.http, world.org, first, world.org.dave, 'initiator', { execute: true });
    await details.getByText('known address, 1 completed transaction to it before').waitFor(LIVE);
  });
});

describe('a vote of another person', () => {
  it('appears in a page that is open', async () => {
    const proposal = await propose(site.api.http, world.org);
    const alice = await open(proposal);
    const bob = await open(proposal, world.org.bob);
    await button(alice, 'Approve: 1 more after yours').waitFor();
    await alice.page.evaluate('window.isTheSame = true');
    const shown = alice.page
      .getByText('1 of 2 approvals')
      .waitFor()
      .then(() => performance.now());
    const vote = (response: Response) => response.url().endsWith('/signatures');
    const [clickedAt] = [performance.now()];
    const [answered] = await Promise.all([
      bob.page.waitForResponse(vote).then(() => performance.now()),
      button(bob, 'Approve: 1 more after yours').click(),
    ]);
    const shownAt = await shown;
    const ms = (from: number) => `${Math.round(shownAt - from)} ms`;
    console.info(
      `a vote is shown to another person ${ms(clickedAt)} after the click, ${ms(answered)} after its answer`,
    );
    expect(await alice.page.evaluate('window.isTheSame')).toBe(true);
    await button(alice, 'Approve and execute').waitFor();
  });
});
