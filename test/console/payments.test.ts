/** @deep */

import { selectorOf } from '../../src/chain/functions';
import { propose } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { lie, type Swap, swapAddress } from '../support/browser/network';
import {
  button,
  section,
  signaturesOn,
  untilNotSignable,
  untilOn,
  untilShown,
} from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { rpc, sharedStack } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';
import { aTransactionBody, initiate } from '../support/transactionApi';

/** A change is shown within 2 s on an idle machine; nothing but its event would show it, however long it took. */
const LIVE = { timeout: 20_000 };

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
});

/** Types a payment from the only account. */
async function type({ page }: Visitor, { amount, to }: { amount: string; to: string }): Promise<void> {
  await page.getByLabel('Amount').fill(amount);
  await page.getByLabel('Recipient').fill(to);
}

const create = (visitor: Visitor) => button(visitor, 'Create transaction').click();

describe('a payment', () => {
  it('goes through dry run and two approvers, and is watched until it is completed', async () => {
    const { dave, alice, bob } = world.org;
    const initiator = await site.signedIn(dave, '/new/transfer');
    const first = await site.signedIn(alice);
    await untilShown(first, 'Nothing waits for you');

    await type(initiator, { amount: '1.5', to: anAddress() });
    const dryRun = section(initiator, 'Dry run');
    await dryRun.getByRole('radio', { name: /Reviewed payments/ }).waitFor();
    await dryRun.getByText('1 policy does not permit it').click();
    await dryRun.getByText('Amount: 1.5 "ETH" (permitted: at most 1 "ETH")').waitFor();
    expect(await violationsEverywhere(initiator.page)).toEqual([]);
    await create(initiator);
    await button(initiator, 'Sign: 2 approvals needed').click();
    await untilShown(initiator, '0 of 2 approvals');

    // Nobody has loaded these pages again.
    await first.page.getByRole('link', { name: /^Send 1.5 ETH from “Treasury”/ }).click(LIVE);
    await section(first, 'What it does')
      .getByText(/^It succeeds at block \d+ with [\d\s]+ gas.$/)
      .waitFor();
    await button(first, 'Approve: 1 more after yours').click();
    await initiator.page.getByText('1 of 2 approvals').waitFor(LIVE);
    const second = await site.signedIn(bob, new URL(first.page.url()).pathname);
    await button(second, 'Approve and execute').waitFor();
    expect(await violationsEverywhere(second.page)).toEqual([]);
    await button(second, 'Approve and execute').click();
    await untilShown(second, 'It was executed as it was signed.');
    await initiator.page.getByText('It was executed as it was signed.').waitFor(LIVE);
    expect(await signaturesOn(initiator)).toEqual([
      'Dave: initiator, signed',
      'Alice: approved',
      'Bob: approved',
    ]);
    expect([initiator, first, second].map(({ wallet }) => wallet.typedData.length)).toEqual([1, 1, 1]);
  });

  itDeep('says at its field what the dry run refuses', async () => {
    const { page, ...dave } = await site.signedIn(world.org.dave, '/new/transfer');
    const isRefused = page.getByLabel('Recipient').and(page.locator('[aria-invalid=true]'));
    await type({ page, ...dave }, { amount: '1', to: world.treasury.address });
    await isRefused.waitFor();
    await page.getByLabel('Recipient').fill(anAddress());
    await isRefused.waitFor({ state: 'detached' });
  });
});

describeDeep('the simulation of a payment', () => {
  const anOpenPayment = (value: string) => {
    const { org, treasury: account, byTwo: policy } = world;
    return initiate(
      site.api.http,
      org,
      aTransactionBody(org, { account, policy, to: anAddress() }, { value }),
    );
  };

  it('says why it would fail, and what has changed since', async () => {
    const { id } = await anOpenPayment('9'.repeat(30));
    const alice = await site.signedIn(world.org.alice, `/requests/${id}`);
    await section(alice, 'What it does')
      .getByText(/^It would fail at block \d+: insufficient funds/)
      .waitFor();
    const { rpcUrl = '' } = sharedStack().chains[0] ?? {};
    await rpc(rpcUrl, 'anvil_setBalance', [world.treasury.address, `0x${(10n ** 31n).toString(16)}`]);
    await section(alice, 'What it does')
      .getByText(/^It succeeds/)
      .waitFor(LIVE);
  });

  it('is not shown as a result while the network is unavailable', async () => {
    const { id } = await anOpenPayment('1');
    const alice = await site.signedIn(world.org.alice);
    const unavailable = JSON.stringify({ data: { status: 'unavailable' } });
    await alice.page.route('**/simulation', (route) =>
      route.fulfill({ contentType: 'application/json', body: unavailable }),
    );
    await alice.page.goto(`${site.origin}/requests/${id}`);
    await alice.page.getByText('The network is unavailable: the call cannot be simulated now.').waitFor();
  });
});

describeDeep('a contract call', () => {
  it('is typed by its signature, checked while it is typed, and executed', async () => {
    const { org } = world;
    const [chain] = sharedStack().chains;
    const dave = await site.signedIn(org.dave, '/new/call');
    const { page } = dave;
    await page.getByLabel('Contract').fill(chain?.token.address ?? '');
    await page.getByLabel('ABI').fill('burn(uint256 amount)');
    await page.getByLabel('amount (uint256)').fill('a lot');
    const isWrong = page
      .getByRole('textbox', { name: 'amount (uint256)' })
      .and(page.locator('[aria-invalid=true]'));
    await isWrong.waitFor();
    expect(await button(dave, 'Create transaction').isDisabled()).toBe(true);
    await page.getByLabel('amount (uint256)').fill('0');
    await create(dave);
    await button(dave, 'Sign: 2 approvals needed').click();
    await untilShown(dave, '0 of 2 approvals');
    const path = new URL(page.url()).pathname;
    const alice = await site.signedIn(org.alice, path);
    await section(alice, 'What it does').getByText('burn').first().waitFor();
    await button(alice, 'Approve: 1 more after yours').click();
    await untilShown(alice, '1 of 2 approvals');
    const bob = await site.signedIn(org.bob, path);
    await button(bob, 'Approve and execute').click();
    await dave.page.getByText('It was executed as it was signed.').waitFor(LIVE);
  });
});

describe('a server that lies', () => {
  const recipient = anAddress();
  const cases: readonly [what: string, field: string, swaps: () => readonly Swap[]][] = [
    ['recipient', 'message.recipient', () => swapAddress(recipient, anAddress())],
    [
      'amount',
      'message.amount',
      () => [
        [/1500000000000000000/, '9500000000000000000'],
        [/(?<=Send |")1\.5(?= |")/, '9.5'],
      ],
    ],
    ['policy', 'message.policyId', () => [[world.byTwo.id, world.atOnce.id]]],
  ];

  it.each(cases)('with another %s in what is signed gets no signature', async (_, field, swaps) => {
    const dave = await site.signedIn(world.org.dave, '/new/transfer');
    await type(dave, { amount: '1.5', to: recipient });
    await lie(dave.context, swaps());
    await create(dave);
    await untilNotSignable(dave, field);
    expect(dave.wallet.typedData).toEqual([]);
  });

  it('with the salt of another organization in what is signed gets no signature', async () => {
    const { alice } = world.org;
    const [one, other] = [await propose(site.api.http, world.org), await propose(site.api.http, world.org)];
    const visitor = await site.signedIn(alice, `/requests/${one.id}`);
    await button(visitor, 'Approve: 1 more after yours').waitFor();
    const { salt } = JSON.parse(one.signingPayloads.approvePayload).domain;
    await lie(visitor.context, [[salt, `0x${'5a'.repeat(32)}`]]);
    await visitor.page.goto(`/requests/${other.id}`);
    await untilNotSignable(visitor, 'domain.salt');
    expect(visitor.wallet.typedData).toEqual([]);
  });

  it('that shows one recipient and has another one signed gets no signature', async () => {
    const { org, treasury: account, byTwo: policy } = world;
    const body = aTransactionBody(org, { account, policy, to: recipient });
    const { id } = await initiate(site.api.http, org, body);
    const alice = await site.visit(org.alice);
    await lie(alice.context, swapAddress(recipient, anAddress()), { only: 'payloads' });
    await button(alice, 'Sign in with Test Wallet').click();
    await untilOn(alice, 'Home');
    await alice.page.goto(`/requests/${id}`);
    await untilNotSignable(alice, 'message.summary[0]');
    expect(alice.wallet.typedData).toEqual([]);
  });

  itDeep(
    'that writes another argument in the lines of a call, which are signed, gets no signature',
    async () => {
      const { org, treasury: account, byTwo: policy } = world;
      const to = sharedStack().chains[0]?.token.address ?? '';
      const data = `${selectorOf('burn(uint256)')}${'7'.padStart(64, '0')}`;
      const body = aTransactionBody(org, { account, policy, to }, { value: '0', data });
      const { id } = await initiate(site.api.http, org, body);
      const honest = await site.signedIn(org.alice, `/requests/${id}`);
      await untilShown(honest, /^\w+: 7$/);
      await button(honest, 'Approve: 1 more after yours').waitFor();
      const alice = await site.signedIn(org.alice);
      await lie(alice.context, [[/(?<=\\n|")(\w+: )7(?=\\?")/, '$11']]);
      await alice.page.goto(`/requests/${id}`);
      await untilNotSignable(alice, 'message.summary');
      expect(alice.wallet.typedData).toEqual([]);
    },
  );

  itDeep(
    'that names another thing in the lines of a proposal, which are signed, gets no signature',
    async () => {
      const { alice } = world.org;
      const { id } = await propose(site.api.http, world.org, { name: 'Operations' });
      const visitor = await site.signedIn(alice);
      await lie(visitor.context, [[/(?<=Create account \\+")Operations/, 'Petty cash']]);
      await visitor.page.goto(`/requests/${id}`);
      await untilNotSignable(visitor, 'message.summary');
      expect(visitor.wallet.typedData).toEqual([]);
    },
  );
});
