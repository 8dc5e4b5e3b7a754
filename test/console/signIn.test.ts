/** @deep */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { violationsEverywhere } from '../support/browser/axe';
import { alert, button } from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import type { TestMember, TestOrganization } from '../support/service';
import { describeDeep } from '../support/suite';

let site: Site;
let org: TestOrganization;

siteForTests(async (opened) => {
  site = opened;
  org = await site.api.createOrganization();
});

const signInButton = (visitor: Visitor) => button(visitor, 'Sign in with Test Wallet');
const signOutButton = (visitor: Visitor) => button(visitor, 'Sign out');
const untilSignedIn = ({ page }: Visitor, name: string) =>
  page.getByRole('banner').getByText(name, { exact: true }).waitFor();
const signatures = ({ wallet }: Visitor) =>
  wallet.requests.map(({ method }) => method).filter((method) => method.includes('sign'));

/** Another organization in which the same wallet has another name. */
async function secondOrganizationOf({ wallet }: TestMember, memberName: string): Promise<void> {
  const bot = privateKeyToAccount(generatePrivateKey());
  await site.api.found('Second Organization', 1, [
    { name: memberName, type: 'user', wallet, admin: true },
    { name: 'Bot', type: 'api', wallet: bot, admin: true },
  ]);
}

describe('signing in', () => {
  it('takes one signature of the wallet, shows who is signed in, and ends', async () => {
    const visitor = await site.visit(org.alice);
    await signInButton(visitor).waitFor();
    expect(await violationsEverywhere(visitor.page)).toEqual([]);
    await signInButton(visitor).click();
    await untilSignedIn(visitor, 'Alice');
    expect(signatures(visitor)).toEqual(['personal_sign']);
    await visitor.page.reload();
    await untilSignedIn(visitor, 'Alice');
    await signOutButton(visitor).click();
    await signInButton(visitor).waitFor();
  });

  it('lets somebody of several organizations choose one, and the other after signing out', async () => {
    await secondOrganizationOf(org.bob, 'Robert');
    const visitor = await site.visit(org.bob);
    const choose = async (choice: string) => {
      await signInButton(visitor).click();
      await visitor.page.getByRole('button', { name: choice }).click();
    };
    const membersShown = async (present: string, absent: string) => {
      const { page } = visitor;
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Members' }).click();
      await page.getByRole('row', { name: new RegExp(`^${present} `) }).waitFor();
      return page.getByRole('row', { name: new RegExp(`^${absent} `) }).count();
    };
    await choose('Second Organization as Robert');
    await untilSignedIn(visitor, 'Robert');
    expect(await membersShown('Bot', 'Alice')).toBe(0);
    await signOutButton(visitor).click();
    await choose('Test Organization as Bob');
    await untilSignedIn(visitor, 'Bob');
    expect(await membersShown('Alice', 'Robert')).toBe(0);
    // One signature for each: the choice takes none.
    expect(signatures(visitor)).toEqual(['personal_sign', 'personal_sign']);
  });
});

describeDeep('signing in that does not work', () => {
  it('says that the wallet has refused, and tries again', async () => {
    const visitor = await site.visit(org.alice);
    visitor.wallet.answer = 'refuses';
    await signInButton(visitor).click();
    await alert(visitor).getByText('The request was declined in Test Wallet. Nothing was signed.').waitFor();
    visitor.wallet.answer = 'signs';
    await signInButton(visitor).click();
    await untilSignedIn(visitor, 'Alice');
  });

  it('stops waiting for a wallet that does not answer', async () => {
    const visitor = await site.visit(org.alice);
    visitor.wallet.answer = 'hangs';
    await signInButton(visitor).click();
    await visitor.page.getByText('Waiting for Test Wallet').waitFor();
    await visitor.page.getByRole('button', { name: 'Stop waiting' }).click();
    await alert(visitor).getByText('Stopped waiting for Test Wallet').waitFor();
  });

  it('says which wallet of nobody was tried, what to send to an admin, and not who is a member', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    const visitor = await site.visit({ wallet: stranger });
    await signInButton(visitor).click();
    const refusal = alert(visitor).filter({ hasText: 'This wallet is not a member’s' });
    await refusal.getByText(`Tried with the address ${stranger.address}`).waitFor();
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(visitor, 'Copy the text for an admin').click();
    await visitor.page.getByText('Copied').waitFor();
    expect(await visitor.page.evaluate('navigator.clipboard.readText()')).toBe(
      `Please add my wallet to our organization in orgwallet.\n\nWallet address: ${stranger.address}\n` +
        `Form for admins: ${site.origin}/new/members`,
    );
    expect(await refusal.textContent()).not.toContain('Test Organization');
    expect(await violationsEverywhere(visitor.page)).toEqual([]);
  });

  it('works from a wallet that is on another chain', async () => {
    const visitor = await site.visit(org.alice);
    visitor.wallet.chainId = 1;
    await signInButton(visitor).click();
    await untilSignedIn(visitor, 'Alice');
  });

  it('says that there is no wallet, and which kinds there are', async () => {
    const context = await site.browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(site.origin);
    await page.getByText('No wallet found in this browser').waitFor();
    const kinds = await page.getByRole('main').getByRole('listitem').allTextContents();
    for (const kind of ['Browser extension', 'Phone', 'Hardware wallet', 'Contract wallet']) {
      expect(kinds.some((text) => text.startsWith(kind))).toBe(true);
    }
    expect(await violationsEverywhere(page)).toEqual([]);
    await context.close();
  });
});

describeDeep('a session in two tabs', () => {
  it('ends in both when it is ended in one, and goes on in both after signing in again', async () => {
    const visitor = await site.signedIn(org.alice);
    await untilSignedIn(visitor, 'Alice');
    const second = await visitor.context.newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('button', { name: 'Sign in with Test Wallet' }).waitFor();
    const dialog = visitor.page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('button', { name: 'Sign in with Test Wallet' }).click();
    await dialog.waitFor({ state: 'detached' });
    await untilSignedIn(visitor, 'Alice');
  });

  it('goes on in both after signing in again in one of them', async () => {
    const visitor = await site.signedIn(org.alice);
    await untilSignedIn(visitor, 'Alice');
    const second = await visitor.context.newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Sign out' }).click();
    const dialog = visitor.page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await second.getByRole('button', { name: 'Sign in with Test Wallet' }).click();
    await dialog.waitFor({ state: 'detached' });
    await untilSignedIn(visitor, 'Alice');
  });

  it('is of the same member in both', async () => {
    const visitor = await site.signedIn(org.alice);
    await untilSignedIn(visitor, 'Alice');
    const second = await visitor.context.newPage();
    await second.goto('/');
    await second.getByRole('button', { name: 'Sign out' }).click();
    const signIn = second.getByRole('button', { name: 'Sign in with Test Wallet' });
    await signIn.waitFor();
    await visitor.wallet.choose(org.carol.wallet);
    await signIn.click();
    await untilSignedIn({ ...visitor, page: second }, 'Carol');
    await untilSignedIn(visitor, 'Carol');
  });
});
