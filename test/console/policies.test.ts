import { read, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { button, section, untilOn } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import { anAddress } from '../support/builders';
import { sharedStack } from '../support/stack';
import { aTransactionBody, createTransaction } from '../support/transactionApi';
import { transferData } from '../support/transactions';

let site: Site;
let world: PaymentWorld;
const SHOP = anAddress();

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
  const { org, treasury: account, byTwo: policy } = world;
  const [chain] = sharedStack().chains;
  for (const wei of ['30000000000000000', '50000000000000000', '900000000000000000']) {
    const body = aTransactionBody(
      org,
      { account, policy, to: SHOP },
      { value: wei, description: `${wei} wei` },
    );
    await createTransaction(site.api.http, org, body);
  }
  const data = transferData(SHOP, 10n ** BigInt(chain?.token.decimals ?? 0));
  const body = aTransactionBody(
    org,
    { account, policy, to: chain?.token.address ?? '' },
    { value: '0', data },
  );
  await createTransaction(site.api.http, org, body);
});

it('is written from a template: the sentence that is signed and its impact are beside the form', async () => {
  const alice = await site.signedIn(world.org.alice, '/new/policies');
  const { page } = alice;
  await button(alice, 'Petty cash').click();
  const preview = section(alice, 'What the admins sign');
  await preview.getByText('Fill in every field').waitFor();
  await page.getByLabel('Amount threshold').fill('0.05');
  await page.getByLabel('Initiator', { exact: true }).selectOption({ label: 'Finance (3)' });
  // Several networks are configured: which one, nobody can guess.
  await page.getByLabel('Network').selectOption('31337');
  await preview.getByText('Create policy "Petty cash", approved automatically').waitFor();
  await preview.getByText('Transfers of at most 0.05 "ETH"').waitFor();
  await preview.getByText(/Of the last 4 transactions it would have permitted 0 and refused 4/).waitFor();

  await page.getByLabel('Initiator', { exact: true }).selectOption({ label: 'any member' });
  // Together they are more than the budget.
  await preview.getByText(/it would have permitted 1 and refused 3/).waitFor();
  await preview.getByText('Not met: Budget 2, Token 1, Amount 1').waitFor();
  await page.getByLabel('Amount threshold').fill('0.08');
  await preview.getByText(/it would have permitted 2 and refused 2/).waitFor();
  await preview.getByText('What it would have permitted', { exact: true }).last().click();
  await preview.getByRole('link', { name: '50000000000000000 wei' }).waitFor();
  expect(await violationsEverywhere(page)).toEqual([]);

  const lines = await preview.getByRole('listitem').allTextContents();
  await button(alice, 'Create proposal').click();
  await untilOn(alice, 'Add policy “Petty cash”');
  const [proposal] = await read(site.api.http, world.org.readKey, '/api/v1/proposals');
  const signed = proposal.summary.split('\n');
  expect(lines.slice(0, signed.length)).toEqual(signed);

  // The approver sees the same.
  const bob = await site.signedIn(world.org.bob, new URL(page.url()).pathname);
  const impact = section(bob, 'What it would have permitted');
  await impact.getByText(/it would have permitted 2 and refused 2/).waitFor();
  expect(await violationsEverywhere(bob.page)).toEqual([]);
});

it('offers the tokens of the network with their decimals', async () => {
  const alice = await site.signedIn(world.org.alice, '/new/policies');
  const { page } = alice;
  await button(alice, 'Two of finance').click();
  await page.getByLabel('Network').selectOption('31337');
  const options = page.getByLabel('Token', { exact: true }).getByRole('option');
  await options.first().waitFor({ state: 'attached' });
  expect(await options.allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining('native currency'), 'another token']),
  );
  expect(await page.getByLabel('Approver', { exact: true }).locator('option:checked').textContent()).toBe(
    'Finance (3)',
  );
});

it('says at its field what the service refuses, before anything is proposed', async () => {
  const alice = await site.signedIn(world.org.alice, '/new/policies');
  const { page } = alice;
  await button(alice, 'Petty cash').click();
  await page.getByLabel('Name').fill('Small payments');
  await page.getByLabel('Network').selectOption('31337');
  await page.getByLabel('Initiator', { exact: true }).selectOption({ label: 'any member' });
  await page.getByLabel('Amount threshold').fill('1');
  const description = /"Small payments" is the name of policy pol_/;
  await page.getByRole('textbox', { name: 'Name', description }).waitFor();
  const proposals: Shown[] = await read(site.api.http, world.org.readKey, '/api/v1/proposals');
  const open = proposals.filter(({ executionStatus }) => executionStatus === null);
  expect(open.filter(({ summary }) => summary.includes('Small payments'))).toEqual([]);
});
