/** @deep */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex, TypedDataDefinition } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { hashTypedPayload } from '../../src/chain/typedData';
import { deployAsFunder, newSafe, signAsSafe } from '../chain/wallets';
import { json, refused, words } from '../cli/command';
import { change, makeAccount } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { beginCeremony, type Ceremony } from '../support/browser/ceremony';
import { alert, button, section, untilOn, untilShown } from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { aPolicyItem } from '../support/policies';
import type { TestOrganization } from '../support/service';
import { endpointOf, fundOnLocalChain, sharedStack, temporaryDir } from '../support/stack';
import { describeDeep, itDeep } from '../support/suite';

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const [ann, ben, bot, stranger] = [newWallet(), newWallet(), newWallet(), newWallet()];
const FOUNDERS = [
  { name: 'Ann', wallet: ann },
  { name: 'Ben', wallet: ben },
  { name: 'Bot', type: 'api', wallet: bot },
] as const;

let site: Site;
let ceremony: Ceremony;

siteForTests(async (opened) => {
  site = opened;
  ceremony = await beginCeremony(site.api.env, 'Acme', 2, FOUNDERS);
});

/** Somebody opens the page, before anybody is a member of anything. */
const open = (wallet: PrivateKeyAccount) => site.visit({ wallet }, '/founding');

const chooseFile = ({ page }: Visitor, file: string) => page.getByLabel('File').setInputFiles(file);
const paste = ({ page }: Visitor, text: string) => page.getByLabel('Or its text').fill(text);
const typeDigest = ({ page }: Visitor, digest: string) => page.getByLabel('Digest on the board').fill(digest);

/** A founder says who they are, and has the wallet sign. */
async function sign(visitor: Visitor, name: string): Promise<void> {
  await visitor.page.getByLabel('You are').selectOption({ label: name });
  await button(visitor, 'Sign with Test Wallet').click();
}

const groups = (digest: string) => (digest.slice(2).match(/.{8}/g) ?? []).join(' ');

/** The signature that a page shows, once it is there. */
async function signatureOn(visitor: Visitor, name: string): Promise<string> {
  const signed = alert(visitor).filter({ hasText: `Signed by “${name}”` });
  return (await signed.locator('pre').textContent()) ?? '';
}

/** The file that a page saves. */
async function saved(visitor: Visitor): Promise<string> {
  const [download] = await Promise.all([
    visitor.page.waitForEvent('download'),
    button(visitor, /^Save signature-/).click(),
  ]);
  const file = join(temporaryDir(), download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

/** A page from which nothing can be signed. */
async function expectNoSigning(visitor: Visitor): Promise<void> {
  expect(await button(visitor, /^Sign with/).count()).toBe(0);
  expect(visitor.wallet.requests).toEqual([]);
}

describe('the ceremony', () => {
  it('leads two founders in the page and one at the command line to a first payment', async () => {
    const { id, file, hash, payload } = ceremony;
    const { env } = site.api;
    const asked: string[] = [];

    const first = await open(ann);
    first.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await first.page.reload();
    await untilOn(first, 'Found an organization');
    await chooseFile(first, file);
    const members = section(first, 'What it founds').getByRole('row');
    await members.filter({ hasText: ann.address }).filter({ hasText: 'Ann' }).waitFor();
    await untilShown(first, '2 of 3 admins sign each change');
    await section(first, 'Digest').getByText(groups(hash), { exact: true }).first().waitFor();
    await typeDigest(first, groups(hash));
    await untilShown(first, 'The same digest.');
    await sign(first, 'Ann');
    await signatureOn(first, 'Ann');
    expect(await violationsEverywhere(first.page)).toEqual([]);
    await first.page.setViewportSize({ width: 390, height: 900 });
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await first.page.evaluate(overflow)).toBe(0);
    await first.page.setViewportSize({ width: 1_440, height: 900 });
    const ofAnn = await saved(first);
    // The page has loaded its own parts, and has asked the service for nothing.
    expect(asked.filter((path) => !path.startsWith('/assets/'))).toEqual(['/founding']);

    const second = await open(ben);
    await paste(second, payload);
    await sign(second, 'Ben');
    const ofBen = await signatureOn(second, 'Ben');
    expect([first, second].map(({ wallet }) => wallet.typedData.length)).toEqual([1, 1]);

    // Without a database and a service, as at a founder's own machine.
    expect(await words({}, 'verify', file, '--hash', hash, '--wallet', bot.address)).toContain(groups(hash));
    const ofBot = await bot.signTypedData(JSON.parse(payload));

    const given = (...signatures: string[]) => signatures.flatMap((one) => ['--signature', one]);
    const admit = ['signer', 'admit', id, hash];
    await words(env, 'org', 'sign', id, ...given(ofAnn));
    expect(await refused(env, ...admit)).toMatch(
      /lacks the signatures of ("Ben" .*, "Bot"|"Bot" .*, "Ben") /,
    );
    const [annId = '', benId = '', botId = ''] = ceremony.memberIds;
    expect(await json(env, 'org', 'sign', id, ...given(ofBen, ofBot))).toMatchObject({ missing: [] });
    await words(env, ...admit);

    // They can decide: an account and a policy, signed by both.
    const { key } = await json(env, 'keys', 'issue', '--member', botId);
    const founder = (memberId: string, wallet: PrivateKeyAccount) => ({ id: memberId, wallet });
    const org = {
      ...{ id, adminKey: key, readKey: key, alice: founder(annId, ann), bob: founder(benId, ben) },
    } as unknown as TestOrganization;
    const account = await makeAccount(site.api.http, org, { name: 'Treasury' });
    await fundOnLocalChain(sharedStack().chains[0]?.rpcUrl ?? '', account.address);
    await change(site.api.http, org, '/policies/proposals/add', {
      policies: [aPolicyItem({ name: 'First payments' })],
    });

    await first.page.getByRole('link', { name: 'Sign in' }).click();
    await button(first, 'Sign in with Test Wallet').click();
    await first.page.getByRole('banner').getByText('Ann', { exact: true }).waitFor();
    await first.page.getByRole('banner').getByText('· admin').waitFor();
    await first.page.goto('/new/transfer');
    await first.page.getByLabel('Amount').fill('0.5');
    await first.page.getByLabel('Recipient').fill(anAddress());
    await button(first, 'Create transaction').click();
    await button(first, 'Sign and execute').click();
    await untilShown(first, 'It was executed as it was signed.');
  });

  itDeep('can be done with the keyboard alone', async () => {
    const visitor = await open(ann);
    const { keyboard } = visitor.page;
    const focused = visitor.page.locator(':focus');
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        await keyboard.press('Tab');
        const label = visitor.page.getByLabel(name).or(button(visitor, name));
        if ((await label.and(focused).count()) > 0) return;
      }
      throw new Error(`"${name}" is not reached with 60 presses of Tab`);
    };
    await untilOn(visitor, 'Found an organization');
    await tabTo('File');
    // A page behind another one opens no dialog.
    await visitor.page.bringToFront();
    const [chooser] = await Promise.all([visitor.page.waitForEvent('filechooser'), keyboard.press('Enter')]);
    await chooser.setFiles(ceremony.file);
    await tabTo('Digest on the board');
    await keyboard.insertText(ceremony.hash);
    await tabTo('You are');
    await keyboard.type('Ann');
    await tabTo('Sign with Test Wallet');
    await keyboard.press('Enter');
    await signatureOn(visitor, 'Ann');
    await tabTo('Save signature-ann.json');
    const [download] = await Promise.all([visitor.page.waitForEvent('download'), keyboard.press('Enter')]);
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({ name: 'Ann' });
  });

  itDeep('has a founder whose wallet is a contract', async () => {
    const safe = newSafe();
    const { config, env } = site.api;
    const chainId = config.signerNetworkId;
    const network = config.networks.find((one) => one.id === chainId);
    await deployAsFunder(endpointOf(network ?? { rpcUrls: [] }), safe.account);
    const wallet = {
      address: safe.address,
      signTypedData: (typed: TypedDataDefinition) =>
        signAsSafe(safe.owner, { address: safe.address, chainId }, hashTypedPayload(JSON.stringify(typed))),
    } as unknown as PrivateKeyAccount;
    const founders = [
      { name: 'Safe', wallet, walletKind: 'contract' },
      { name: 'Bot', type: 'api', wallet: bot },
    ] as const;
    const { id, file, hash } = await beginCeremony(env, 'Contracts', 1, founders);
    const visitor = await open(wallet);
    await chooseFile(visitor, file);
    await section(visitor, 'What it founds')
      .getByRole('row')
      .filter({ hasText: `${safe.address} contract` })
      .waitFor();
    await sign(visitor, 'Safe');
    const signature = await signatureOn(visitor, 'Safe');
    const ofBot = await bot.signTypedData(JSON.parse(readFileSync(file, 'utf8')));
    await words(env, 'org', 'sign', id, '--signature', signature, '--signature', ofBot);
    expect(await words(env, 'signer', 'admit', id, hash)).toMatch(/is admitted$/m);
  });
});

describe('a genesis that is not signed', () => {
  it('is one that was changed on its way: the page names the field', async () => {
    const visitor = await open(ann);
    // The state has another wallet for Ben than the summary, which a wallet shows.
    const text = JSON.parse(ceremony.payload);
    text.message.state = text.message.state.replace(ben.address, stranger.address);
    await paste(visitor, JSON.stringify(text));
    const refusal = alert(visitor).filter({ hasText: 'Do not sign: the genesis is not what it says' });
    await refusal.getByText(/^message\.summary\[\d\]$/).waitFor();
    await refusal.getByText(ben.address).waitFor();
    await expectNoSigning(visitor);
    expect(await violationsEverywhere(visitor.page)).toEqual([]);
  });

  it('is one whose digest is not on the board: that of another service, or an older one', async () => {
    const other = await beginCeremony(site.api.env, 'Acme', 1, FOUNDERS);
    const visitor = await open(ann);
    await chooseFile(visitor, other.file);
    await typeDigest(visitor, ceremony.hash);
    await alert(visitor).getByText('Do not sign: the others have a different digest').waitFor();
    await untilShown(visitor, /^A different digest: group \d of 8 differs/);
    await expectNoSigning(visitor);
    await typeDigest(visitor, other.hash.slice(0, 20));
    await untilShown(visitor, 'The first 18 digits are the same, of 64.');
  });

  itDeep('is not a genesis at all, or a file that is too large', async () => {
    const visitor = await open(ann);
    const file = join(temporaryDir(), 'large.json');
    writeFileSync(file, Buffer.alloc(1_000_001, ' '));
    for (const text of ['{"name":"Acme"}', 'genesis', ceremony.payload.slice(1)]) {
      await paste(visitor, text);
      await alert(visitor)
        .getByText(/^Not a genesis \(expected the file that/)
        .waitFor();
    }
    await chooseFile(visitor, file);
    await alert(visitor).getByText('large.json is too large for a genesis (at most 1 MB)').waitFor();
    await expectNoSigning(visitor);
  });

  itDeep('is one of an organization that this browser knows with another salt', async () => {
    const visitor = await open(ann);
    const pin = JSON.stringify({ organization: ceremony.id, salt: `0x${'0'.repeat(64)}` });
    await visitor.page.evaluate(
      `localStorage.setItem('orgwallet.pin.${ceremony.id}', ${JSON.stringify(pin)})`,
    );
    await chooseFile(visitor, ceremony.file);
    await alert(visitor).getByText('domain.salt', { exact: true }).waitFor();
    await expectNoSigning(visitor);
  });
});

describeDeep('a signature that is not given', () => {
  /** What the page says about a wallet that has these accounts, or signs in this way. */
  async function saysOf(wallet: PrivateKeyAccount, name: string): Promise<Visitor> {
    const visitor = await open(wallet);
    await chooseFile(visitor, ceremony.file);
    await sign(visitor, name);
    await alert(visitor).getByText('The wallet did not sign').waitFor();
    expect(await alert(visitor).filter({ hasText: 'Signed by' }).count()).toBe(0);
    return visitor;
  }
  /** A wallet that has the account of Ann, and signs in another way. */
  const insteadOfAnn = (signTypedData: (typed: TypedDataDefinition) => Promise<Hex>) =>
    saysOf({ ...ann, signTypedData } as PrivateKeyAccount, 'Ann');

  it('is of the wallet of another founder, or of nobody: the page names them', async () => {
    await untilShown(
      await saysOf(ben, 'Ann'),
      /has selected 0x\w+ of “Ben”\. You are “Ann”: select account 0x/,
    );
    await untilShown(
      await saysOf(stranger, 'Ann'),
      /has selected 0x\w+, which does not belong to an admin\. You are “Ann”/,
    );
  });

  it('is of another key than the account, or over other bytes, as wallets have signed by mistake', async () => {
    const discarded = /the signature is not of “Ann” \(0x\w+\) over the digest of this page/;
    const other = await insteadOfAnn((typed) => stranger.signTypedData(typed));
    await untilShown(other, discarded);
    const withoutSalt = await insteadOfAnn(({ domain, ...typed }) => {
      const { salt: _, ...rest } = domain ?? {};
      const { EIP712Domain: __, ...types } = typed.types as Record<string, unknown>;
      return ann.signTypedData({ ...typed, types, domain: rest } as TypedDataDefinition);
    });
    await untilShown(withoutSalt, discarded);
  });

  it('is that of a contract, where the genesis says that the wallet is a key', async () => {
    const visitor = await insteadOfAnn(async () => `0x${'12'.repeat(200)}`);
    await untilShown(visitor, /the genesis says that “Ann” has one.*walletKind "contract"/);
  });

  it('is declined, or never answered', async () => {
    const visitor = await open(ann);
    await chooseFile(visitor, ceremony.file);
    visitor.wallet.answer = 'refuses';
    await sign(visitor, 'Ann');
    await alert(visitor)
      .getByText(/^The request was declined in Test Wallet\. Nothing was signed/)
      .waitFor();
    visitor.wallet.answer = 'hangs';
    await button(visitor, 'Sign with Test Wallet').click();
    await button(visitor, 'Stop waiting').click();
    await alert(visitor)
      .getByText(/^Stopped waiting for Test Wallet/)
      .waitFor();
    visitor.wallet.answer = 'signs';
    await button(visitor, 'Sign with Test Wallet').click();
    await signatureOn(visitor, 'Ann');
  });
});

describeDeep('the page of the founders', () => {
  it('is there for who is signed in elsewhere, and while the service does not answer', async () => {
    const org = await site.api.createOrganization();
    const visitor = await site.signedIn(org.alice, '/founding');
    await visitor.page.route(/\/(api|session)/, (route) => route.abort('connectionrefused'));
    await visitor.page.reload();
    await untilOn(visitor, 'Found an organization');
    await chooseFile(visitor, ceremony.file);
    await untilShown(visitor, '2 of 3 admins sign each change');
  });

  it('is reached from the sign-in', async () => {
    const visitor = await site.visit({ wallet: ann });
    await visitor.page.getByRole('link', { name: 'sign its genesis' }).click();
    await untilOn(visitor, 'Found an organization');
  });
});
