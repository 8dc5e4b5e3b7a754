/** @deep */
import { button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { aContractPolicyItem } from '../support/policies';
import { sharedStack } from '../support/stack';
import { itDeep } from '../support/suite';
import { makePolicies } from '../support/transactionApi';

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
});

describe('the form of a contract call', () => {
  it('has each function once, whoever names it', async () => {
    const { org } = world;
    const contractAddress = anAddress();
    const rule = {
      contractAddress,
      allowedFunctions: ['mint(address,uint256)', 'burn(uint256)'],
      maxValue: '0',
    };
    await makePolicies(
      site.api.http,
      org,
      aContractPolicyItem([rule], { name: 'Mint' }),
      aContractPolicyItem([rule], { name: 'Mint too' }),
    );
    const dave = await site.signedIn(org.dave, '/new/call');
    await dave.page.getByLabel('Contract', { exact: true }).fill(contractAddress);
    await dave.page
      .getByLabel(/^ABI/)
      .fill('mint(address to, uint256 amount)\ntransfer(address to, uint256 amount)');
    const options = dave.page.getByLabel('Function').getByRole('option');
    await options.filter({ hasText: 'transfer' }).waitFor({ state: 'attached' });
    expect(await options.allTextContents()).toEqual([
      'mint(address,uint256)',
      'burn(uint256)',
      'transfer(address,uint256)',
    ]);
    await dave.page.getByLabel('to (address)').waitFor();
  });

  it('shows an amount of a known token in its units beside the integer', async () => {
    const [chain] = sharedStack().chains;
    const { address, symbol, decimals } = chain?.token ?? { address: '', symbol: '', decimals: 0 };
    const dave = await site.signedIn(world.org.dave, '/new/call');
    await dave.page.getByLabel('Contract', { exact: true }).fill(address);
    await dave.page.getByLabel(/^ABI/).fill('approve(address spender, uint256 amount)');
    await dave.page.getByLabel('amount (uint256)').fill(`1234${'5'.padEnd(decimals, '0')}`);
    await untilShown(dave, `= 1\u202f234.5 ${symbol}`);
  });
});

describe('a button that is disabled', () => {
  const reasonOn = ({ page }: Visitor) =>
    page
      .getByRole('main')
      .getByRole('status')
      .filter({ hasText: /^[A-Z]/ });

  it.each([
    ['/new/transfer', 'Create transaction', 'Still needed: amount, recipient.'],
    ['/new/call', 'Create transaction', 'Still needed: contract, function.'],
    ['/new/accounts', 'Create proposal', 'Still needed: name, networks.'],
    ['/new/members', 'Create proposal', 'Still needed: name, wallet address.'],
    ['/new/groups', 'Create proposal', 'Still needed: name.'],
    [
      '/new/policies',
      'Create proposal',
      'Still needed: name, network, accounts, amount threshold, recipients, initiator, approver.',
    ],
    ['/new/admins', 'Create proposal', 'Nothing is chosen or changed yet.'],
  ])('says why on %s', async (path, name, reason) => {
    const alice = await site.signedIn(world.org.alice, path);
    await untilShown(alice, reason);
    expect(await button(alice, name).isDisabled()).toBe(true);
  });

  it('says that no policy permits it, and is one no longer once one does', async () => {
    const dave = await site.signedIn(world.org.dave, '/new/transfer');
    const { page } = dave;
    await page.getByLabel('Recipient').fill(anAddress());
    await page.getByLabel('Amount').fill('1000');
    await page.getByText('Still needed').waitFor({ state: 'detached' });
    await page.getByLabel('Amount').fill('0.001');
    await page.getByRole('radio').first().waitFor();
    expect(await reasonOn(dave).count()).toBe(0);
    expect(await button(dave, 'Create transaction').isEnabled()).toBe(true);
  });

  itDeep('says so to somebody who is not an admin', async () => {
    const dave = await site.signedIn(world.org.dave, '/new/groups');
    await untilOn(dave, 'New proposal: groups');
    await untilShown(dave, 'Only admins can create proposals.');
  });
});

/** The words of a page's tables that are broken over lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('table')].flatMap((table) => {
  const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    for (const { 0: word, index } of data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
})`;

describe('the tables', () => {
  it('break no word, however wide the page is', async () => {
    const alice = await site.signedIn(world.org.alice);
    for (const path of ['/members', '/admins', '/groups', '/accounts', `/accounts/${world.treasury.id}`]) {
      await alice.page.goto(path);
      await alice.page.getByRole('table').first().waitFor();
      for (const width of [390, 800, 1_024, 1_440]) {
        await alice.page.setViewportSize({ width, height: 900 });
        expect([path, width, await alice.page.evaluate(BROKEN_WORDS)]).toEqual([path, width, []]);
      }
    }
  });
});

describe('the balances of an account', () => {
  it('say when they were read, and are read again on demand', async () => {
    const dave = await site.signedIn(world.org.dave, `/accounts/${world.treasury.id}`);
    const balances = section(dave, 'Balances');
    await balances.getByText(/^read at \d\d:\d\d:\d\d$/).waitFor();
    const again = dave.page.waitForRequest((one) => one.url().endsWith('/balances'));
    await button(dave, 'Refresh').click();
    await again;
  });
});
