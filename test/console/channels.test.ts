import { CHANNEL_KINDS } from '../../src/domain/delivery';
import { violationsEverywhere } from '../support/browser/axe';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { openSite, type Site } from '../support/browser/site';
import { type ChatServer, startChatServer } from '../support/chatServer';
import { type MailServer, startMailServer } from '../support/mailServer';
import type { TestOrganization } from '../support/service';
import { until } from '../support/until';

let site: Site;
let org: TestOrganization;
let chats: ChatServer;
let mail: MailServer;

beforeAll(async () => {
  [chats, mail] = await Promise.all([startChatServer(), startMailServer()]);
  site = await openSite({ SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: 'wallet@example.com' });
  org = await site.api.createOrganization();
});
afterEach(() => site?.leave());
afterAll(async () => {
  await site?.stop();
  await Promise.all([chats?.stop(), mail?.stop()]);
});

describe('the page of notifications', () => {
  it('adds a channel, tries it, changes what it is for, and removes it', async () => {
    const url = chats.urlOf('slack', 'page');
    const alice = await site.signedIn(org.alice, '/notifications');
    await untilOn(alice, 'Notifications');
    await untilShown(alice, 'No channels');
    const form = section(alice, 'New channel');
    expect(await form.getByRole('radio').count()).toBe(CHANNEL_KINDS.length);
    await form.getByLabel('URL').fill('http://10.0.0.1/');
    await button(alice, 'Add the channel').click();
    await alert(alice).filter({ hasText: 'is not a public address' }).first().waitFor();
    await form.getByLabel('URL').fill(url);
    await form.getByLabel('Description (optional)').fill('Treasury');
    for (const name of [/^Decided/, /^Money in/]) await form.getByRole('checkbox', { name }).check();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await button(alice, 'Add the channel').click();
    const row = alice.page.getByRole('row', { name: /Treasury/ });
    await row.getByText('everything').waitFor();
    await row.getByRole('button', { name: 'Open Treasury' }).click();
    const dialog = alice.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('The test was accepted.').waitFor();
    expect(chats.of(url).some(({ text }) => text.includes('A test notice'))).toBe(true);
    for (const name of [/^Decided/, /^Reminders/, /^Money in/, /^Security/])
      await dialog.getByRole('checkbox', { name }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Signatures wanted, Failed or blocked').waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await untilShown(alice, 'No channels');
  });

  it('adds the own address of a member, and confirms it with the code of the mail', async () => {
    const dave = await site.signedIn(org.dave, '/notifications');
    const own = section(dave, 'Your email address');
    await own.getByLabel('Email address').fill('not one');
    await button(dave, 'Add the address').click();
    await alert(dave).filter({ hasText: 'must be one address' }).first().waitFor();
    await own.getByLabel('Email address').fill('dave@example.com');
    await button(dave, 'Add the address').click();
    await own.getByText('waiting for the code that was sent').waitFor();
    const [sent] = await until('the code is sent', async () => mail.mails.length > 0 && mail.mails);
    await own.getByRole('button', { name: /^Open/ }).click();
    const dialog = dave.page.getByRole('dialog');
    await dialog.getByLabel('Code').fill(/Code: (\d{8})/.exec(sent?.text ?? '')?.[1] ?? '');
    expect(await violationsEverywhere(dave.page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm the address' }).click();
    await own.getByRole('cell', { name: 'active' }).waitFor();
    await untilShown(dave, 'Ask an admin of your organization for one.');
  });
});
