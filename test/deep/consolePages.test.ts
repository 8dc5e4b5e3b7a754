import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { proposeChange, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { beginCeremony } from '../support/browser/ceremony';
import { lie, swapAddress } from '../support/browser/network';
import { button, untilNotSignable } from '../support/browser/page';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { type Site, siteForTests } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestOrganization } from '../support/service';
import {
  aTransactionBody,
  createTransaction,
  initiate,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';

/** Where the pictures of the documentation are. */
const IMAGES = join(projectRoot(), 'docs', 'images');
/** Takes them again: they differ with every run by ids and times. */
const TAKES_PICTURES = process.env.TEST_SCREENSHOTS === '1';

let site: Site;
let world: PaymentWorld;
let empty: TestOrganization;
/** Requests in different states, by what they are. */
let requests: { [name: string]: Shown };

siteForTests(async (opened) => {
  site = opened;
  world = await makePaymentWorld(site.api);
  empty = await site.api.createOrganization();
  const { http } = site.api;
  const { org, treasury: account, atOnce, byTwo } = world;
  const ask = (more: object) => aTransactionBody(org, { account, policy: byTwo, to: anAddress() }, more);
  const paid = await createTransaction(
    http,
    org,
    aTransactionBody(org, { account, policy: atOnce, to: anAddress() }, { value: '250000000000000000' }),
  );
  await signed(http, org, paid, org.dave, 'initiator', { execute: true });
  requests = {
    paid: await settledTransaction(http, org, paid),
    payment: await initiate(http, org, ask({ value: '1500000000000000000', description: 'Salaries of May' })),
    unsigned: await createTransaction(http, org, ask({ value: '300000000000000000' })),
    policy: await proposeChange(http, org, '/policies/proposals/update', {
      policies: [
        {
          ...aPolicyItem({ name: 'Small payments' }),
          id: atOnce.id,
          tokenTransferCondition: aTokenCondition({ amountThreshold: '5000000000000000000' }),
        },
      ],
    }),
    account: await proposeChange(http, org, '/accounts/proposals/create', {
      items: [{ name: 'Operations', networkIds: [31337, 31338] }],
    }),
  };
});

/** The paths of the pages, as the router of the console has them. */
function pathsOfPages(): string[] {
  const router = readFileSync(join(projectRoot(), 'console', 'src', 'router.tsx'), 'utf8');
  return [...router.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path);
}

/** Places of a path with a parameter. */
function placesOf(path: string): string[] {
  switch (path) {
    case '/requests/$id':
      return Object.values(requests).map(({ id }) => `/requests/${id}`);
    case '/accounts/$id':
      return [`/accounts/${world.treasury.id}`, `/accounts/${world.treasury.id}?view=movements`];
    case '/accounts/$id/statement':
      return [`/accounts/${world.treasury.id}/statement`];
    case '/policies/$id':
      return [`/policies/${world.byTwo.id}`];
    case '/groups/$id':
      return [`/groups/${world.byTwo.approverSetting.groupId}`];
    default:
      return [path];
  }
}

/** Waits until everything that a page shows has been read. */
async function untilLoaded({ page }: Visitor): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  const loading = page.getByRole('status').filter({ hasText: /^Loading/ });
  await until('the page is loaded', async () => (await loading.count()) === 0);
}

/** How far a page is wider than the screen of a phone, in pixels. */
async function overflowOn({ page }: Visitor): Promise<number> {
  await page.setViewportSize({ width: 390, height: 900 });
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** What is wrong with a page for somebody who does not see well, or reads it on a phone. */
async function problemsOf(visitor: Visitor, path: string): Promise<string[]> {
  await visitor.page.goto(path);
  await untilLoaded(visitor);
  const problems = await violationsEverywhere(visitor.page);
  const overflow = await overflowOn(visitor);
  if (overflow > 0) problems.push(`390 px: ${overflow} px too wide`);
  return problems.map((problem) => `${path}: ${problem}`);
}

describe('every page', () => {
  it.each(pathsOfPages())('has %s without a violation that axe finds, and fits a phone', async (path) => {
    const alice = await site.signedIn(world.org.alice);
    for (const place of placesOf(path)) expect(await problemsOf(alice, place)).toEqual([]);
  });

  it.each(pathsOfPages().filter((path) => !path.includes('$')))(
    'has %s of an organization with nothing in it',
    async (path) => {
      expect(await problemsOf(await site.signedIn(empty.alice), path)).toEqual([]);
    },
  );

  it('says what is not found', async () => {
    const alice = await site.signedIn(world.org.alice);
    const unknown = ['/nothing', '/requests/txn_01jz8k3v5fe5ht0n2m6w9r4xyz', '/requests/nonsense'];
    for (const path of unknown) expect(await problemsOf(alice, path)).toEqual([]);
  });
});

describe('a script that is not of the console', () => {
  it.each([
    ['inline', "script.textContent = 'window.ran = true'"],
    ['of another origin', "script.src = 'https://127.0.0.1:1/script.js'"],
  ])('%s does not run, and fails the test', async (_, edit) => {
    const { page, faults } = await site.signedIn(world.org.alice);
    await page.evaluate(
      `const script = document.createElement('script'); ${edit}; document.head.append(script);`,
    );
    await until('the browser has reported it', async () => faults.length > 0);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    await expect(site.leave()).rejects.toThrow('Content-Security-Policy: script-src-elem');
  });
});

/** A picture of the documentation: its file, its page, and what is done there before it is taken. */
interface Picture {
  readonly name: string;
  readonly path: () => string;
  readonly isPhone?: true;
  readonly prepare?: (visitor: Visitor) => Promise<void>;
}

/** Types a payment of 1.5 ETH to Dave. */
async function typePayment({ page }: Visitor): Promise<void> {
  await page.getByLabel('Amount').fill('1.5');
  await page.getByLabel('Recipient').fill(world.org.dave.wallet.address);
  await page.getByRole('radio').first().waitFor();
  await page.getByText('1 policy does not permit it').click();
}

/** Asks a server for that payment which puts another recipient in it. */
async function beLiedTo(visitor: Visitor): Promise<void> {
  await typePayment(visitor);
  await lie(visitor.context, swapAddress(world.org.dave.wallet.address, anAddress()));
  await button(visitor, 'Create transaction').click();
  await untilNotSignable(visitor, 'message.recipient');
}

/** Reads the genesis of an organization that is founded, and says who signs. */
async function readGenesis({ page }: Visitor): Promise<void> {
  const { file } = await beginCeremony(site.api.env, 'Acme', 2, [
    { name: 'Ann', wallet: world.org.alice.wallet },
    { name: 'Ben', wallet: world.org.bob.wallet },
    { name: 'Bot', type: 'api', wallet: world.org.bot.wallet },
  ]);
  await page.getByLabel('File').setInputFiles(file);
  await page.getByLabel('You are').selectOption({ label: 'Ann' });
  await page.getByRole('table').evaluate((table) => table.scrollIntoView());
}

const PICTURES: readonly Picture[] = [
  { name: 'home', path: () => '/' },
  { name: 'waiting', path: () => '/requests' },
  { name: 'payment', path: () => `/requests/${requests.payment?.id}` },
  { name: 'difference', path: () => `/requests/${requests.policy?.id}` },
  { name: 'transfer', path: () => '/new/transfer', prepare: typePayment },
  { name: 'refused', path: () => '/new/transfer', prepare: beLiedTo },
  { name: 'phone', path: () => `/requests/${requests.payment?.id}`, isPhone: true },
  // The last one: from then on the wallets are of two organizations, and a sign-in has to name one.
  { name: 'founding', path: () => '/founding', prepare: readGenesis },
];

if (TAKES_PICTURES) {
  describe('the pictures of the documentation', () => {
    it.each(PICTURES)('has $name', async ({ name, path, isPhone, prepare }) => {
      const visitor = await site.signedIn(world.org.alice, path(), {
        colorScheme: isPhone ? 'dark' : 'light',
        viewport: isPhone ? { width: 390, height: 844 } : { width: 1_200, height: 760 },
      });
      await untilLoaded(visitor);
      await prepare?.(visitor);
      await visitor.page.screenshot({ path: join(IMAGES, `console-${name}.png`) });
    });
  });
}
