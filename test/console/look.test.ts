/** @deep */

import { readFileSync } from 'node:fs';
import type { Schema } from '@orgwallet/client';
import { propose } from '../support/api';
import { auditLog } from '../support/auditLog';
import { violationsEverywhere } from '../support/browser/axe';
import { changeAnswers } from '../support/browser/network';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { describeDeep, itDeep } from '../support/suite';
import { aTransactionBody, createTransaction, settledTransaction, signed } from '../support/transactionApi';
import { until } from '../support/until';

/** A change is shown within 2 s on an idle machine; nothing but its event would show it, however long it took. */
const LIVE = { timeout: 20_000 };

/** A page of the audit log, not the two entries that say whether the organization is frozen. */
const AUDIT_LOG = /\/api\/v1\/audit-logs\?.*limit=50/;

let site: Site;
let world: PaymentWorld;
let paid: { readonly id: string };

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
  const { org, treasury: account, atOnce: policy } = world;
  const { http } = site.api;
  const body = aTransactionBody(org, { account, policy, to: anAddress() });
  const created = await createTransaction(http, org, {
    ...body,
    description: '=2+3',
    value: '250000000000000000',
  });
  paid = await signed(http, org, created, org.dave, 'initiator', { execute: true });
  await settledTransaction(http, org, paid);
});

/** The rows of the file that a button saves, its headings first. */
async function savedBy(visitor: Visitor, name: RegExp): Promise<string[]> {
  const [download] = await Promise.all([
    visitor.page.waitForEvent('download'),
    button(visitor, name).click(),
  ]);
  return readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
}

const place = ({ page }: Visitor, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });

describe('an account', () => {
  it('shows what it holds and what was paid from it, in a file without formulas', async () => {
    const visitor = await site.signedIn(world.org.dave);
    await place(visitor, 'Accounts').click();
    await untilOn(visitor, 'Accounts');
    await visitor.page.getByRole('link', { name: 'Treasury' }).click();
    await untilOn(visitor, 'Treasury');
    const balances = section(visitor, 'Balances');
    await balances.getByRole('row', { name: /^ETH/ }).waitFor();
    const history = section(visitor, 'History');
    await history.getByRole('link', { name: /^Send 0.25 ETH from “Treasury”/ }).waitFor();
    await history.getByText('Completed').waitFor();
    expect(await violationsEverywhere(visitor.page)).toEqual([]);

    const [headings = '', row = '', ...others] = await savedBy(visitor, /^Save as CSV/);
    expect(others).toEqual([]);
    const saved = new Map(headings.split(',').map((heading, i) => [heading, row.split(',')[i]]));
    expect(Object.fromEntries(saved)).toMatchObject({
      id: paid.id,
      description: "'=2+3",
      amount: '0.25',
      symbol: 'ETH',
      rawAmount: '250000000000000000',
      executionStatus: 'completed',
    });
  });

  itDeep('looks for transactions by state and kind, and keeps the choice in its address', async () => {
    const visitor = await site.signedIn(
      world.org.dave,
      `/accounts/${world.treasury.id}?type=CONTRACT_INTERACTION`,
    );
    await untilShown(visitor, 'No transaction matches the filters');
    await visitor.page.getByLabel('Type').selectOption('all');
    await visitor.page.getByLabel('State').selectOption('closed');
    await visitor.page.getByRole('link', { name: /^Send 0.25 ETH/ }).waitFor();
    expect(new URL(visitor.page.url()).search).toBe('?status=executed');
    await visitor.page.getByLabel('State').selectOption('open');
    await untilShown(visitor, 'No transaction matches the filters');
  });

  itDeep('says where to look for one that is not there', async () => {
    const visitor = await site.signedIn(world.org.dave, '/accounts/acc_00000000000000000000000000');
    await untilOn(visitor, 'Account not found');
  });
});

describe('the audit log', () => {
  it('is looked through by what it is about, with all that was recorded', async () => {
    const visitor = await site.signedIn(world.org.alice, '/audit');
    await visitor.page.getByLabel('Resource id').fill(paid.id);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByText(/^Transaction executed in block \d+$/).waitFor();
    await visitor.page.getByText(/^1 to (\d+) of \1 entries$/).waitFor();
    const actions = await visitor.page
      .getByRole('listitem')
      .getByText(/^Transaction [\w“]/)
      .allTextContents();
    expect(actions.at(-1)).toMatch(/^Transaction “Send .*” created$/);
    const saved = await savedBy(visitor, /^Save as CSV/);
    expect(saved.length).toBe(actions.length + 1);
  });

  it('shows a change as soon as it is made, without reading again what was read before', async () => {
    const visitor = await site.signedIn(world.org.alice);
    const asked: string[] = [];
    await visitor.context.route(/\/api\/v1\/audit-logs\?.*limit=50/, async (route) => {
      asked.push(route.request().url());
      await route.continue({ url: route.request().url().replace('limit=50', 'limit=2') });
    });
    await visitor.page.goto('/audit?resourceType=proposal&action=proposal.created');
    await button(visitor, 'Next').click();
    const entries = section(visitor, 'Entries').locator('ol').getByRole('listitem');
    await entries.nth(2).waitFor();
    const [count, before] = [await entries.count(), await entries.first().textContent()];
    asked.length = 0;
    await propose(site.api.http, world.org, { name: 'Watched' });
    await entries
      .first()
      .filter({ hasNotText: before ?? '' })
      .waitFor(LIVE);
    expect(await entries.count()).toBe(count + 1);
    expect(asked.filter((url) => url.includes('cursor='))).toEqual([]);
  });

  itDeep('says at a field what is wrong with it', async () => {
    const visitor = await site.signedIn(world.org.alice, '/audit');
    await visitor.page.getByLabel('Resource id').fill('no id');
    await button(visitor, 'Apply').click();
    await visitor.page
      .getByRole('textbox', { name: 'Resource id' })
      .and(visitor.page.locator('[aria-invalid]'))
      .waitFor();
    await alert(visitor).getByText('Request id').waitFor();
  });

  it('is checked as far as it is shown, and says what the page cannot prove', async () => {
    const visitor = await site.signedIn(world.org.alice, '/audit');
    await untilShown(visitor, /^Unbroken from entry \d+ to \d+: checked by this page\.$/);
    await visitor.page.getByText(/^Not proved by this page/).click();
    await untilShown(visitor, `./orgwallet audit verify --org ${world.org.id}`);
    await visitor.page.goto('/audit?action=proposal.created');
    await untilShown(visitor, /^Each of the \d+ entries shown has its own hash: checked by this page\.$/);
    expect(await violationsEverywhere(visitor.page)).toEqual([]);
  });

  it('shows what a server has changed as broken, with what differs', async () => {
    const visitor = await site.signedIn(world.org.alice);
    await changeAnswers<Schema['AuditLogEntryPage']>(visitor.context, AUDIT_LOG, ({ data, ...body }) => ({
      ...body,
      data: data.map((entry, n) =>
        n === 1 ? { ...entry, actor: { ...entry.actor, name: 'Mallory' } } : entry,
      ),
    }));
    await visitor.page.goto('/audit');
    await alert(visitor).getByText('The audit log is broken').waitFor();
    await alert(visitor)
      .getByText(/^\d+ entries checked by this page, 1 broken: entry \d+\./)
      .waitFor();
    const broken = section(visitor, 'Entries').getByRole('listitem').filter({ hasText: 'Broken' });
    expect(await broken.count()).toBe(1);
    await broken.getByText('by Mallory').waitFor();
    await broken.getByText(/^It is not what was recorded: its hash is \w{8}…\w{6}/).waitFor();
    expect(await visitor.page.getByText(/^Unbroken/).count()).toBe(0);
    expect(await violationsEverywhere(visitor.page)).toEqual([]);
  });

  itDeep('shows where a server leaves an entry out, and nothing broken where a filter does', async () => {
    const visitor = await site.signedIn(world.org.alice);
    await changeAnswers<Schema['AuditLogEntryPage']>(visitor.context, AUDIT_LOG, ({ data, ...body }) => ({
      ...body,
      data: data.filter((_, n) => n !== 1),
    }));
    await visitor.page.goto('/audit');
    await alert(visitor).getByText('The audit log is broken').waitFor();
    await section(visitor, 'Entries')
      .getByRole('listitem')
      .first()
      .getByText(/^Entry \d+ is missing before it\.$/)
      .waitFor();
    await visitor.page.goto('/audit?resourceType=proposal');
    await untilShown(visitor, /^Each of the \d+ entries shown has its own hash: checked by this page\.$/);
  });

  itDeep('is checked while thousands of entries are shown, without holding up the page', async () => {
    const visitor = await site.signedIn(world.org.alice);
    const data = auditLog(world.org.id, 2_000);
    await visitor.context.route(AUDIT_LOG, (route) => route.fulfill({ json: { data } }));
    await visitor.page.goto('/audit');
    await untilShown(visitor, 'Unbroken from entry 1 to 2000: checked by this page.');
  });
});

describe("one's own sessions", () => {
  it('are listed and ended, where they then end at once', async () => {
    const { carol } = world.org;
    const [here, there] = [await site.signedIn(carol), await site.signedIn(carol, '/members')];
    await untilOn(there, 'Members');
    await here.page.getByRole('banner').getByRole('link', { name: 'Carol' }).click();
    await button(here, /^End/).click();
    await button(here, /^End/).waitFor({ state: 'detached' });
    await there.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor(LIVE);
  });

  it('are not used by what a page reads by itself, and are by who clicks', async () => {
    const { bob } = world.org;
    const visitor = await site.signedIn(bob);
    const sessions = () => site.api.db('sessions').where({ member_id: bob.id, ended_at: null });
    const lastUse = async () => (await sessions().first('last_used_at'))?.last_used_at.getTime() ?? 0;
    const happens = async (name: string) => {
      await propose(site.api.http, world.org, { name });
      await visitor.page.getByRole('link', { name: `Create account “${name}”` }).waitFor(LIVE);
    };
    await untilOn(visitor, 'Home');
    await happens('Seen before');
    const long = new Date(Date.now() - 20 * 60_000);
    await sessions().update({ last_used_at: long });
    await happens('Seen after');
    expect(await lastUse()).toBe(long.getTime());
    await visitor.page.getByRole('link', { name: 'Create account “Seen after”' }).click();
    await until('the click counts', async () => (await lastUse()) > long.getTime());
  });
});

describeDeep('a page that cannot be read', () => {
  it('says what went wrong with the id of the request, and reads again', async () => {
    const visitor = await site.visit(world.org.alice);
    const answers = { status: 403, headers: { 'x-request-id': 'req_of_the_test' } };
    const json = { error: { code: 'forbidden', message: 'not now' } };
    await visitor.context.route('**/api/v1/admins', (route) => route.fulfill({ ...answers, json }), {
      times: 1,
    });
    await button(visitor, 'Sign in with Test Wallet').click();
    await place(visitor, 'Admins').click();
    await alert(visitor).getByText('req_of_the_test').waitFor();
    await button(visitor, 'Try again').click();
    await section(visitor, 'Members')
      .getByRole('row', { name: /^Alice/ })
      .waitFor();
  });

  it('can be loaded once the service answers again', async () => {
    const visitor = await site.signedIn(world.org.alice);
    await untilOn(visitor, 'Home');
    await visitor.context.route('**/assets/**', (route) => route.abort('connectionrefused'));
    await place(visitor, 'Groups').click();
    await alert(visitor).getByText('A part of the page could not be loaded').waitFor();
    await visitor.context.unroute('**/assets/**');
    await button(visitor, 'Reload').click();
    await visitor.page.getByRole('row', { name: /^Finance/ }).waitFor();
    const faults = (visitor.faults as string[]).splice(0);
    expect(faults.filter((fault) => !fault.includes('Unable to preload CSS'))).toEqual([]);
  });
});
