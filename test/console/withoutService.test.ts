import { readFileSync } from 'node:fs';
import { checkRescueKit } from '@orgwallet/client/rescue';
import { requireRow } from '../../src/db/rows';
import { carryOut, change, makeAccount, proposalPath, read } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { changeAnswers } from '../support/browser/network';
import { button, section, untilOn, untilShown } from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import type { Json } from '../support/document';
import type { TestOrganization } from '../support/service';

const PLACE = '/rescue';
const TITLE = 'Without this service';
const NETWORK = 31_337;

let site: Site;
let org: TestOrganization;

siteForTests(async (opened) => {
  site = opened;
  org = await site.api.createOrganization();
  await makeAccount(site.api.http, org, { name: 'Treasury', networkIds: [NETWORK] });
});

/** What the service answers to a page, changed. */
const answering = ({ context }: Visitor, path: string, changed: (data: Json) => Json) =>
  changeAnswers<Json>(context, new RegExp(`/api/v1${path}$`), (body) => ({
    ...body,
    data: changed(body.data),
  }));

/** Saves the kit; returns the file's name and content. */
async function saved(visitor: Visitor): Promise<{ readonly name: string; readonly content: string }> {
  const file = visitor.page.waitForEvent('download');
  await button(visitor, 'Save the rescue kit').click();
  const download = await file;
  return { name: download.suggestedFilename(), content: readFileSync(await download.path(), 'utf8') };
}

describe('the page about what is left without the service', () => {
  it('leads from off to on, by a proposal that says who will own what on which network', async () => {
    const alice = await site.signedIn(org.alice, PLACE);
    const { page } = alice;
    await untilOn(alice, TITLE);
    await untilShown(alice, "The admins' Safe is off");
    const dave = await site.signedIn(org.dave, PLACE);
    await untilShown(dave, 'Ask an admin to propose it.');

    await page.getByRole('link', { name: 'Propose to switch it on' }).click();
    await untilOn(alice, 'New proposal: admins');
    await page.getByLabel('The admins can take the accounts over without this service').check();
    await button(alice, 'Create proposal').click();
    const onChain = section(alice, TITLE);
    await onChain.getByText(/^2 of 4: .*Alice/).waitFor();
    expect(await onChain.getByRole('row').last().textContent()).toMatch(/nobody2 of 4: .*being set up$/);
    await section(alice, 'What changes').getByText("Admins' Safe", { exact: true }).waitFor();
    expect(await violationsEverywhere(page)).toEqual([]);

    const id = requireRow(page.url().split('/').at(-1)?.split('?')[0]);
    const proposal = await read(site.api.http, org.readKey, proposalPath(id, '', 'admins'));
    await carryOut(site.api.http, org, proposal);
    await page.goto(PLACE);
    await section(alice, 'Networks').getByText('1 of 1 can be taken over').waitFor({ timeout: 90_000 });
    await section(alice, 'Networks').getByText('up to date').waitFor();
    await untilShown(alice, '1 account can be taken over, on its networks.');
    await untilShown(alice, 'It holds none. Send nothing to this address.');
    expect(await violationsEverywhere(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.goto('/admins');
    await page.getByRole('link', { name: 'They can take every account over' }).waitFor();
  }, 180_000);

  it('saves a kit that is right, and says when it is out of date', async () => {
    const alice = await site.signedIn(org.alice, PLACE);
    await untilShown(alice, 'not saved with this browser yet');
    const { name, content } = await saved(alice);
    const kit = await checkRescueKit(JSON.parse(content));
    expect(name).toBe(`rescue-kit-${kit.sequence}.json`);
    expect(kit.networks[0]?.accounts).toMatchObject([{ name: 'Treasury' }]);
    const kitSection = section(alice, 'Rescue kit');
    await kitSection.getByText('up to date').waitFor();
    await change(site.api.http, org, '/admins/proposals/update', { updates: [], threshold: 3 });
    await kitSection.getByText('1 decision since: save it again').waitFor();
    await saved(alice);
    await kitSection.getByText('up to date').waitFor();
  });

  it('saves no kit of a service that lies', async () => {
    const alice = await site.signedIn(org.alice, PLACE);
    await saved(alice);
    const other = anAddress();
    await answering(alice, '/rescue-kit', (kit) =>
      JSON.parse(JSON.stringify(kit).replaceAll(kit.adminsSafe, other)),
    );
    const refused = 'The service sent an invalid kit';
    await button(alice, 'Save the rescue kit').click();
    await untilShown(alice, refused);
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    // A kit that is whole, of an organization with other keys.
    const another = await site.api.createOrganization();
    const on = { updates: [], threshold: 2, onChain: { enabled: true } };
    await change(site.api.http, another, '/admins/proposals/update', on);
    const theirs = await read(site.api.http, another.readKey, '/api/v1/rescue-kit');
    await answering(alice, '/rescue-kit', () => theirs);
    let isSaved = false;
    alice.page.on('download', () => {
      isSaved = true;
    });
    await button(alice, 'Save the rescue kit').click();
    await section(alice, 'Rescue kit')
      .getByText(/head\.state\.id/)
      .waitFor();
    expect(isSaved).toBe(false);
  });

  it('warns of one wallet, of bots alone, and of former admins on a network that is behind', async () => {
    const alice = await site.signedIn(org.alice, '/');
    const former = anAddress();
    await answering(alice, '/admins', ({ onChain, members, ...admins }) => ({
      ...admins,
      members,
      threshold: 1,
      onChain: {
        ...onChain,
        networks: onChain.networks.map((one: Json) => ({
          ...one,
          ...{ status: 'behind', since: new Date(Date.now() - 3 * 3_600_000).toISOString() },
          owners: [...one.owners, former],
        })),
      },
    }));
    await alice.page.goto(PLACE);
    await untilShown(alice, 'One wallet is enough to take every account');
    await untilShown(alice, 'Bots alone can take every account');
    await untilShown(alice, /: behind for 3 hours$/);
    const [digits] = [former.slice(6, -4)];
    await alice.page.getByLabel('Warnings').getByText(digits).waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
  });
});
