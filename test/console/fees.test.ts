import { violationsEverywhere } from '../support/browser/axe';
import { untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import { anAddress } from '../support/builders';
import { aTransactionBody, createTransaction, settledTransaction, signed } from '../support/transactionApi';

let site: Site;
let world: PaymentWorld;

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
});

it('fees are shown by month, filtered, and beside the transaction', async () => {
  const { org, treasury: account, atOnce: policy } = world;
  const { http } = site.api;
  const made = await createTransaction(
    http,
    org,
    aTransactionBody(org, { account, policy, to: anAddress() }, { value: '5' }),
  );
  await signed(http, org, made, org.dave, 'initiator', { execute: true });
  const { id } = await settledTransaction(http, org, made);
  const alice = await site.signedIn(org.alice, '/accounts');
  const { page } = alice;
  await page.getByRole('link', { name: 'Fees' }).click();
  await untilOn(alice, 'Fees');
  await page.getByRole('cell', { name: '1 × transaction' }).waitFor();
  await page.getByRole('cell', { name: '1 × deployment' }).first().waitFor();
  expect(await violationsEverywhere(page)).toEqual([]);
  await page.getByLabel('Policy').selectOption(policy.id);
  await untilShown(alice, '1 to 1 of 1 fees');
  expect(new URL(page.url()).searchParams.get('policyId')).toBe(policy.id);
  await page.goto(`/requests/${id}`);
  await untilShown(alice, 'Fees, paid by the relayer');
});
