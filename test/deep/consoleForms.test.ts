import type { Locator } from 'playwright-core';
import { change, makeAccount, read, type Shown } from '../support/api';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import type { TestOrganization } from '../support/service';
import { rpc, sharedStack } from '../support/stack';

let site: Site;

siteForTests((opened) => {
  site = opened;
});

/** An organization with the threshold 2, and Alice of it on a page. */
async function aliceOn(path: string): Promise<{ org: TestOrganization; alice: Visitor }> {
  const org = await site.api.createOrganization();
  return { org, alice: await site.signedIn(org.alice, path) };
}

/** A list of choices, or the fields that belong together. */
const groupOf = ({ page }: Visitor, name: string): Locator => page.getByRole('group', { name });
const choose = (visitor: Visitor, name: string) => visitor.page.getByRole('radio', { name }).check();

/** Sends what was typed. Returns what the page of the proposal says that it changes, a row for each field. */
async function create(visitor: Visitor, title: string): Promise<string[][]> {
  await button(visitor, 'Create proposal').click();
  await untilOn(visitor, title);
  const rows = section(visitor, 'What changes').getByRole('row');
  await rows.first().waitFor();
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map(({ textContent }) => textContent ?? '')),
  );
}

/** Approves a proposal on this page and on another admin's, and waits until both show that it is completed. */
async function completeWith(other: TestOrganization['bob'], visitor: Visitor): Promise<void> {
  await button(visitor, 'Approve: 1 more after yours').click();
  await untilShown(visitor, '1 of 2 approvals');
  const second = await site.signedIn(other, new URL(visitor.page.url()).pathname);
  await button(second, 'Approve and execute').click();
  for (const { page, wallet } of [second, visitor]) {
    // In its badge and in its status.
    await page.getByText('Completed', { exact: true }).first().waitFor();
    expect(wallet.typedData).toHaveLength(1);
  }
}

const listOf = (org: TestOrganization, what: string): Promise<Shown> =>
  read(site.api.http, org.readKey, `/api/v1/${what}`);

/** Waits until a page has a refusal of the service beside its field, with nothing proposed. */
async function untilRefused(org: TestOrganization, visitor: Visitor, field: Locator): Promise<void> {
  await field.waitFor();
  await alert(visitor).getByText('Request id').waitFor();
  expect(await listOf(org, 'proposals')).toEqual([]);
}

/** The page has what is wrong with a name beside its field, as it is typed: nothing is sent. */
async function untilNotSent(visitor: Visitor, description: string): Promise<void> {
  await visitor.page.getByRole('textbox', { name: 'Name', description }).waitFor();
  await untilShown(visitor, 'A field above is invalid');
  expect(await button(visitor, 'Create proposal').isDisabled()).toBe(true);
}

describe('the form for members', () => {
  it('adds them, with what each is and signs with', async () => {
    const { org, alice } = await aliceOn('/new/members');
    const [erin, bot] = [anAddress(), anAddress()];
    const fieldsOf = (index: number) => groupOf(alice, `New member ${index}`);
    await fieldsOf(1).getByLabel('Name').fill('Erin');
    await fieldsOf(1).getByLabel('Wallet address').fill(erin);
    await button(alice, 'Add another member').click();
    await fieldsOf(2).getByLabel('Name').fill('Payroll Bot');
    await fieldsOf(2).getByLabel('Type').selectOption('bot');
    await fieldsOf(2).getByLabel('Wallet address').fill(bot);
    expect(await create(alice, 'Add members “Erin”, “Payroll Bot”')).toEqual([
      ['Field', 'After'],
      ['Name', 'Erin'],
      ['Type', 'person'],
      ['Wallet', erin],
      ['Wallet kind', 'key'],
      ['Field', 'After'],
      ['Name', 'Payroll Bot'],
      ['Type', 'bot'],
      ['Wallet', bot],
      ['Wallet kind', 'key'],
    ]);
    await completeWith(org.bob, alice);
    expect(await listOf(org, 'members')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Erin', type: 'user', walletAddress: erin }),
        expect.objectContaining({ name: 'Payroll Bot', type: 'api', walletAddress: bot }),
      ]),
    );
  });

  it('gives a member another wallet, shown before and after', async () => {
    const { org, alice } = await aliceOn('/members');
    const wallet = anAddress();
    await alice.page.getByRole('link', { name: 'Propose a change of Dave' }).click();
    await alice.page.getByLabel('New wallet address').fill(wallet);
    expect(await create(alice, 'Change member “Dave”')).toEqual([
      ['Field', 'Before', 'After'],
      ['Wallet', org.dave.wallet.address, wallet],
    ]);
    await completeWith(org.bob, alice);
    const changed = expect.objectContaining({ id: org.dave.id, name: 'Dave', walletAddress: wallet });
    expect(await listOf(org, 'members')).toContainEqual(changed);
  });

  it('removes one, and shows who leaves', async () => {
    const { org, alice } = await aliceOn('/new/members');
    await choose(alice, 'Remove members');
    await groupOf(alice, 'Members to remove').getByLabel('Dave').check();
    expect(await create(alice, 'Remove member “Dave”')).toEqual([
      ['Field', 'Before'],
      ['Name', 'Dave'],
      ['Type', 'person'],
      ['Wallet', org.dave.wallet.address],
      ['Wallet kind', 'key'],
    ]);
    await completeWith(org.bob, alice);
    const ids = (await listOf(org, 'members')).map(({ id }: Shown) => id);
    expect(ids).not.toContain(org.dave.id);
  });

  it('says at the wallet whose it is, and at the list that an admin stays', async () => {
    const { org, alice } = await aliceOn('/new/members');
    await alice.page.getByLabel('Name').fill('Erin');
    await alice.page.getByLabel('Wallet address').fill(org.bob.wallet.address);
    await button(alice, 'Create proposal').click();
    const description = `${org.bob.wallet.address} is the wallet of member "Bob" (${org.bob.id})`;
    await untilRefused(org, alice, alice.page.getByRole('textbox', { name: 'Wallet address', description }));
    await choose(alice, 'Remove members');
    await groupOf(alice, 'Members to remove').getByLabel('Carol').check();
    await button(alice, 'Create proposal').click();
    const list = { name: 'Members to remove', description: /is an admin: first change the admins/ };
    await untilRefused(org, alice, alice.page.getByRole('group', list));
  });
});

describe('the form for groups', () => {
  it('creates one of the members that are chosen', async () => {
    const { org, alice } = await aliceOn('/new/groups');
    await alice.page.getByLabel('Name').fill('Traders');
    for (const name of ['Dave', 'Alice']) await groupOf(alice, 'Members').getByLabel(name).check();
    expect(await create(alice, 'Create group “Traders”')).toEqual([
      ['Field', 'After'],
      ['Name', 'Traders'],
      ['Members', 'Alice, Dave'],
    ]);
    await completeWith(org.bob, alice);
    expect(await listOf(org, 'groups')).toMatchObject([{ name: 'Traders' }]);
  });

  /** Makes a group of Alice and Dave, without the pages. */
  const makeGroup = (org: TestOrganization) =>
    change(site.api.http, org, '/groups/proposals/create', {
      items: [{ name: 'Traders', memberIds: [org.alice.id, org.dave.id] }],
    });

  it('changes the name and the members of one, shown before and after', async () => {
    const { org, alice } = await aliceOn('/groups');
    await makeGroup(org);
    await alice.page.getByRole('link', { name: 'Propose a change of Traders' }).click();
    await alice.page.getByLabel('New name').fill('Desk');
    const members = groupOf(alice, 'Members');
    await members.getByLabel('Alice').uncheck();
    for (const name of ['Bob', 'Carol']) await members.getByLabel(name).check();
    expect(await create(alice, 'Change group “Desk”')).toEqual([
      ['Field', 'Before', 'After'],
      ['Name', 'Traders', 'Desk'],
      ['Members', 'Alice, Dave', 'Bob, Carol, Dave'],
    ]);
    await completeWith(org.bob, alice);
    const [group] = await listOf(org, 'groups');
    expect(group.name).toBe('Desk');
    expect(group.members.map(({ name }: Shown) => name).sort()).toEqual(['Bob', 'Carol', 'Dave']);
  });

  it('deletes one', async () => {
    const { org, alice } = await aliceOn('/new/groups');
    await makeGroup(org);
    await choose(alice, 'Delete groups');
    await groupOf(alice, 'Groups to delete').getByLabel('Traders').check();
    expect(await create(alice, 'Delete group “Traders”')).toEqual([
      ['Field', 'Before'],
      ['Name', 'Traders'],
      ['Members', 'Alice, Dave'],
    ]);
    await completeWith(org.bob, alice);
    expect(await listOf(org, 'groups')).toEqual([]);
  });

  it('says at the name what is wrong with it as it is typed, and sends nothing', async () => {
    const { alice } = await aliceOn('/new/groups');
    await alice.page.getByLabel('Name').fill('T'.repeat(101));
    await untilNotSent(alice, 'must have 1 to 100 characters');
  });
});

describe('the form for accounts', () => {
  /** Whether there is an account on a chain. */
  async function isDeployed(address: string, chainId: number): Promise<boolean> {
    const chain = sharedStack().chains.find((one) => one.chainId === chainId);
    return (await rpc(chain?.rpcUrl ?? '', 'eth_getCode', [address, 'latest'])) !== '0x';
  }
  const nameOf = (chainId: number) => site.api.config.networks.find(({ id }) => id === chainId)?.name ?? '';

  it('creates one, which is deployed on the chain that is chosen', async () => {
    const { org, alice } = await aliceOn('/new/accounts');
    await alice.page.getByLabel('Name').fill('Operations');
    await groupOf(alice, 'Networks')
      .getByLabel(`${nameOf(31337)} (31337)`)
      .check();
    const [, ...rows] = await create(alice, 'Create account “Operations”');
    const address = rows[1]?.[1] ?? '';
    expect(rows).toEqual([
      ['Name', 'Operations'],
      ['Address', expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)],
      ['Networks', nameOf(31337)],
    ]);
    expect(await isDeployed(address, 31337)).toBe(false);
    await completeWith(org.bob, alice);
    const outcome = section(alice, 'What happened');
    await outcome
      .getByRole('definition')
      .getByText(/^completed 0x[0-9a-f]{64}/)
      .waitFor();
    expect(await isDeployed(address, 31337)).toBe(true);
    expect(await isDeployed(address, 31338)).toBe(false);
  });

  it('adds a network to one, where it gets the same address', async () => {
    const { org, alice } = await aliceOn('/accounts');
    const account = await makeAccount(site.api.http, org, { name: 'Treasury', networkIds: [31337] });
    await alice.page.getByRole('link', { name: 'Treasury' }).click();
    await alice.page.getByRole('link', { name: 'Propose a change of Treasury' }).click();
    await groupOf(alice, 'Networks to add')
      .getByLabel(`${nameOf(31338)} (31338)`)
      .check();
    expect(await create(alice, 'Change account “Treasury”')).toEqual([
      ['Field', 'Before', 'After'],
      ['Networks', nameOf(31337), `${nameOf(31337)}, ${nameOf(31338)}`],
    ]);
    await completeWith(org.bob, alice);
    expect(await isDeployed(account.address, 31338)).toBe(true);
  });

  it('says at the name what is wrong with it as it is typed, and sends nothing', async () => {
    const { alice } = await aliceOn('/new/accounts');
    await alice.page.getByLabel('Name').fill('Treasury\u200b');
    await groupOf(alice, 'Networks').getByRole('checkbox').first().check();
    await untilNotSent(
      alice,
      'must not contain invisible, blank or noncharacter code points: character 9 is U+200B ZERO WIDTH SPACE',
    );
  });
});

describe('the form for admins', () => {
  it('makes somebody an admin and raises the threshold, shown before and after', async () => {
    const { org, alice } = await aliceOn('/new/admins');
    await groupOf(alice, 'Admins').getByLabel('Dave').check();
    await alice.page.getByLabel('Threshold').fill('3');
    expect(await create(alice, 'Change the admins: threshold 3 of 5')).toEqual([
      ['Field', 'Before', 'After'],
      ['Admins', 'Admin Bot, Alice, Bob, Carol', 'Admin Bot, Alice, Bob, Carol, Dave'],
      ['Threshold', '2 of 4', '3 of 5'],
    ]);
    await completeWith(org.bob, alice);
    const admins = await listOf(org, 'admins');
    expect(admins.threshold).toBe(3);
    expect(admins.members.map(({ id }: Shown) => id)).toContain(org.dave.id);
  });

  it('says at the list that a bot has to stay', async () => {
    const { org, alice } = await aliceOn('/new/admins');
    await groupOf(alice, 'Admins').getByLabel('Admin Bot').uncheck();
    await button(alice, 'Create proposal').click();
    const list = { name: 'Admins', description: 'at least one admin must be of type api' };
    await untilRefused(org, alice, alice.page.getByRole('group', list));
  });
});
