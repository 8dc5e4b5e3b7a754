import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import type { Address } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { requireRow } from '../../src/db/rows';
import { violationsEverywhere } from '../support/browser/axe';
import { launchBrowser } from '../support/browser/launch';
import { button, untilShown } from '../support/browser/page';
import {
  buildRescuePage,
  copyOfRescuePage,
  field,
  openKit,
  openRescuePage,
  prepare,
  press,
  readNetwork,
  rescueByPage,
  signed,
} from '../support/browser/rescuePage';
import type { Visitor } from '../support/browser/visitor';
import { aHash, anAddress } from '../support/builders';
import { ETHER, type RescueAdmin, RescueWorld } from '../support/rescueWorld';
import { rpc, sharedStack } from '../support/stack';

/** A page that is built, and several transactions, on a machine that may be busy. */
const LIMIT_MS = 240_000;

let browser: Browser;
let file: string;
let world: RescueWorld;
let visitors: Visitor[] = [];

const newWorld = (options: Parameters<typeof RescueWorld.make>[1] = {}) =>
  RescueWorld.make(sharedStack().chains.slice(0, 2), options);

beforeAll(async () => {
  [browser, world] = await Promise.all([launchBrowser(), newWorld()]);
  file = copyOfRescuePage();
}, LIMIT_MS);
afterEach(async () => {
  const left = visitors;
  visitors = [];
  await Promise.all(left.map(({ context }) => context.close()));
  expect(left.flatMap(({ faults }) => faults)).toEqual([]);
});
afterAll(() => browser?.close());

async function opened(admin: Pick<RescueAdmin, 'wallet'>): Promise<Visitor> {
  const visitor = await openRescuePage(browser, file, admin);
  visitors.push(visitor);
  return visitor;
}

/** The name of what has the focus. */
const FOCUSED = `(({ labels, textContent }) => labels?.[0]?.textContent ?? textContent)(document.activeElement)`;

/** The pages of the first admins of an organization. */
async function twoAdmins(of: RescueWorld): Promise<readonly [Visitor, Visitor]> {
  const [first, second] = of.admins;
  return [await opened(requireRow(first)), await opened(requireRow(second))];
}

const alertText = ({ page }: Visitor) => page.locator('.notice.danger');

describe('the rescue page', () => {
  test(
    'is one file that permits its own script and style, and no request',
    async () => {
      const html = readFileSync(file, 'utf8');
      const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
      const hashOf = (tag: string) => {
        const [, content = ''] = new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`).exec(html) ?? [];
        return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
      };
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        `script-src ${hashOf('script')}`,
        `style-src ${hashOf('style')}`,
        "base-uri 'none'",
        "form-action 'none'",
      ]);
      expect(html).not.toMatch(/<(script|link|img|iframe)[^>]* (src|href)=/);
      expect(readFileSync(await buildRescuePage(), 'utf8')).toBe(html);
    },
    LIMIT_MS,
  );

  test(
    'takes three accounts over on two networks and moves money, with signatures passed on as text',
    async () => {
      const [alice, bob] = await twoAdmins(world);
      expect(await violationsEverywhere(alice.page)).toEqual([]);
      for (const visitor of [alice, bob]) await openKit(visitor, world);
      for (const { networkId, client } of world.chains) {
        const payee = anAddress() as Address;
        await rescueByPage(world, networkId, [alice, bob], payee);
        expect(await client.getBalance({ address: payee })).toBe((3n * ETHER) / 2n);
      }
      expect(await violationsEverywhere(bob.page)).toEqual([]);
      await bob.page.setViewportSize({ width: 390, height: 800 });
      expect(await bob.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    },
    LIMIT_MS,
  );

  test(
    'can be used with the keyboard alone',
    async () => {
      const other = await newWorld({ accounts: 1, threshold: 1 });
      const visitor = await opened(requireRow(other.admins[0]));
      const { page } = visitor;
      const to = async (name: string) => {
        for (let i = 0; i < 40; i += 1) {
          await page.keyboard.press('Tab');
          const focused = await page.evaluate<string>(FOCUSED);
          if (focused.trim() === name) return;
        }
        throw new Error(`no Tab reaches ${name}`);
      };
      await to('Or its text');
      await page.keyboard.insertText(JSON.stringify({ data: other.kit }));
      await to('Open the kit');
      await page.keyboard.press('Enter');
      await untilShown(visitor, 'The kit is whole.');
      await to('Connect and read the network');
      await page.keyboard.press('Enter');
      await untilShown(visitor, 'was read.');
      await to('Show what is signed');
      await page.keyboard.press('Enter');
      await untilShown(visitor, /^0 of 1 signatures/);
      await to('Sign with this wallet');
      await page.keyboard.press('Enter');
      await untilShown(visitor, /^1 of 1 signatures/);
      await to('Send it');
      await page.keyboard.press('Enter');
      await untilShown(visitor, /^Done in transaction/);
      const chain = requireRow(other.chains[0]);
      expect(await other.ownersOf(chain, requireRow(other.accounts[0]))).toEqual([other.adminsSafe]);
    },
    LIMIT_MS,
  );

  test(
    'says what is wrong with a kit, and goes no further',
    async () => {
      const visitor = await opened(requireRow(world.admins[0]));
      const account = requireRow(world.kit.networks[0]?.accounts[0]);
      const forged = JSON.stringify(world.kit).replaceAll(account.address, anAddress());
      for (const [text, reason] of [
        ['', /Choose the file of the rescue kit, or paste its text/],
        ['no kit', /it is not JSON/],
        ['{}', /not a whole rescue kit, or it was changed\. type/],
        [forged, /not a whole rescue kit, or it was changed\. head\.signature/],
        [JSON.stringify({ ...world.kit, adminsSafe: anAddress() }), /adminsSafe/],
      ] as const) {
        await field(visitor, 'Or its text').fill(text);
        await press(visitor, 'Open the kit');
        await alertText(visitor).filter({ hasText: reason }).waitFor();
        expect(await button(visitor, 'Connect and read the network').isVisible()).toBe(false);
      }
      expect(await violationsEverywhere(visitor.page)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'says what is wrong with a signature, a wallet or a transaction, and sends nothing',
    async () => {
      const other = await newWorld({ accounts: 1 });
      const [alice, bob] = await twoAdmins(other);
      const stranger = await opened({ wallet: privateKeyToAccount(aHash()) });
      const [{ networkId }, second] = [requireRow(other.chains[0]), requireRow(other.chains[1])];
      for (const visitor of [alice, bob, stranger]) {
        await openKit(visitor, other);
        await readNetwork(visitor, networkId);
      }
      await untilShown(stranger, /does not own the admins' Safe on this network\. It can send, but not sign/);
      await prepare(stranger);
      await press(stranger, 'Sign with this wallet');
      await alertText(stranger).filter({ hasText: 'who does not own' }).waitFor();

      alice.wallet.answer = 'refuses';
      await prepare(alice);
      await press(alice, 'Sign with this wallet');
      await alertText(alice).filter({ hasText: 'Nothing was signed' }).waitFor();
      alice.wallet.answer = 'signs';
      const text = await signed(alice);

      await readNetwork(bob, second.networkId);
      await prepare(bob);
      for (const [pasted, reason] of [
        [text, /of another transaction/],
        ['nothing', /No signature found/],
      ] as const) {
        await field(bob, 'Signatures of other admins').fill(pasted);
        await press(bob, 'Add these signatures');
        await alertText(bob).filter({ hasText: reason }).waitFor();
      }
      await readNetwork(bob, networkId);
      await prepare(bob);
      const forged = text.replace(/.{6}$/, '00001b');
      await field(bob, 'Signatures of other admins').fill(forged);
      await press(bob, 'Add these signatures');
      await alertText(bob).filter({ hasText: 'who does not own' }).waitFor();

      bob.wallet.knownChains = [networkId];
      await field(bob, 'Network').selectOption(String(second.networkId));
      await press(bob, 'Connect and read the network');
      await alertText(bob)
        .filter({ hasText: `chain ID ${second.networkId}` })
        .waitFor();
      const owners = await other.ownersOf(requireRow(other.chains[0]), requireRow(other.accounts[0]));
      expect(owners).toEqual([other.signingKey.address]);
    },
    LIMIT_MS,
  );

  test(
    'counts an approval on chain, for a wallet that signs no typed data',
    async () => {
      const other = await newWorld({ accounts: 1 });
      const [alice, bob] = await twoAdmins(other);
      const chain = requireRow(other.chains[0]);
      for (const visitor of [alice, bob]) {
        await openKit(visitor, other);
        await readNetwork(visitor, chain.networkId);
      }
      await prepare(alice);
      await press(alice, 'Approve on chain instead');
      await untilShown(alice, /^Approved on chain/);
      await prepare(bob);
      await untilShown(bob, /^1 of 2 signatures: Alice/);
      await signed(bob);
      await press(bob, 'Send it');
      await untilShown(bob, /^Done in transaction/);
      expect(await other.ownersOf(chain, requireRow(other.accounts[0]))).toEqual([other.adminsSafe]);
      expect(await rpc(chain.url, 'eth_chainId', [])).toBe(`0x${chain.networkId.toString(16)}`);
    },
    LIMIT_MS,
  );
});
