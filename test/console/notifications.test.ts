import { violationsEverywhere } from '../support/browser/axe';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { openSite, type Site } from '../support/browser/site';
import { type Receiver, startReceiver } from '../support/receiver';
import type { TestOrganization } from '../support/service';
import { until } from '../support/until';

let site: Site;
let org: TestOrganization;
let receiver: Receiver;

beforeAll(async () => {
  site = await openSite();
  org = await site.api.createOrganization();
  receiver = await startReceiver();
});
afterEach(() => site?.leave());
afterAll(async () => {
  receiver?.close();
  await site?.stop();
});

describe('the page of notifications', () => {
  it('creates a webhook, shows its deliveries and its secret, sends one again, and removes it', async () => {
    receiver.answer((_, response) => response.writeHead(200).end('thanks'));
    const alice = await site.signedIn(org.alice, '/notifications');
    await untilOn(alice, 'Notifications');
    await untilShown(alice, 'No webhooks');
    const form = section(alice, 'New webhook');
    await form.getByLabel('URL').fill('http://10.0.0.1/');
    await button(alice, 'Create the webhook').click();
    await alert(alice).filter({ hasText: 'is not a public address' }).first().waitFor();
    await form.getByLabel('URL').fill(receiver.url);
    await form.getByLabel('Description (optional)').fill('Ledger');
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await button(alice, 'Create the webhook').click();
    const row = alice.page.getByRole('row', { name: /Ledger/ });
    await row.waitFor();
    await until('the first event came', async () => receiver.received.length > 0 || undefined);
    await row.getByRole('button', { name: 'Open Ledger' }).click();
    const dialog = alice.page.getByRole('dialog');
    const delivery = dialog.getByRole('row', { name: /webhook.created/ });
    await delivery.getByText('accepted: 200').waitFor();
    await delivery.getByText(/thanks/).waitFor();
    await delivery.getByRole('button', { name: /^Resend event/ }).click();
    await dialog.getByRole('cell', { name: 'resend' }).waitFor();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog
      .getByRole('row', { name: /webhook.test/ })
      .first()
      .waitFor();
    await dialog.getByRole('button', { name: 'Show the secret' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByText(/^whpk_/).waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await untilShown(alice, 'No webhooks');
  });

  it('is for admins', async () => {
    const dave = await site.signedIn(org.dave, '/notifications');
    await untilShown(dave, 'Ask an admin of your organization for one.');
    expect(await violationsEverywhere(dave.page)).toEqual([]);
  });
});
