import { violationsEverywhere } from '../support/browser/axe';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { openSite, type Site } from '../support/browser/site';
import type { TestOrganization } from '../support/service';

let site: Site;
let org: TestOrganization;

beforeAll(async () => {
  site = await openSite();
  org = await site.api.createOrganization();
});
afterEach(() => site?.leave());
afterAll(() => site?.stop());

describe('the page of API keys', () => {
  it('issues a key that is shown once, lists it, and revokes it', async () => {
    const alice = await site.signedIn(org.alice, '/keys');
    await untilOn(alice, 'API keys');
    const form = section(alice, 'New key');
    await button(alice, 'Issue the key').click();
    await alert(alice).filter({ hasText: '1 to 100 characters' }).first().waitFor();
    await form.getByLabel('Name').fill('Payroll');
    await form.getByRole('checkbox', { name: 'Admin Bot' }).check();
    await form.getByRole('checkbox', { name: 'Request' }).check();
    await form.getByLabel('Only from these addresses (optional)').fill('127.0.0.0/8, ::1/128');
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await button(alice, 'Issue the key').click();
    await untilShown(alice, 'Store the key now: it is shown only here.');
    const key = (await form.locator('code').textContent()) ?? '';
    expect(key).toMatch(/^ow_live_[\w-]{43}$/);
    expect((await site.api.http.send({ key, path: '/api/v1/members' })).status).toBe(200);
    await button(alice, 'I have stored it').click();
    const row = alice.page.getByRole('row', { name: /Payroll/ });
    expect(await row.getByRole('rowheader').textContent()).toBe(`Payroll ${key.slice(0, 12)}…`);
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      ...['Admin Bot', 'read, request', 'from 127.0.0.0/8, ::1/128'],
      ...[expect.stringMatching(/never|\d/), 'until it is revoked', 'Revoke Payroll'],
    ]);
    await row.getByRole('button', { name: 'Revoke Payroll' }).click();
    await button(alice, 'Revoke the key').click();
    await row.getByText(/^revoked /).waitFor();
    expect((await site.api.http.send({ key, path: '/api/v1/members' })).status).toBe(401);
  });

  it('is for admins', async () => {
    const dave = await site.signedIn(org.dave, '/keys');
    await untilShown(dave, 'Ask an admin of your organization for a key, or to revoke one.');
    expect(await violationsEverywhere(dave.page)).toEqual([]);
  });
});
