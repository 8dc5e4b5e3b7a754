import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import type { Shown } from '../support/api';
import { type LargeWorld, makeLargeWorld } from '../support/browser/largeWorld';
import { openSite, type Site } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { aTransactionBody, initiate } from '../support/transactionApi';
import { aTransaction } from '../support/transactionRecords';
import { until } from '../support/until';

/** Where the pictures are put, for whoever wants to look at them. */
const PICTURES = join(projectRoot(), 'dist', 'screenshots');
const WIDTHS = [390, 1_440] as const;
const THEMES = ['light', 'dark'] as const;
const HEIGHT = 900;

const PURPOSES = [
  'Salaries of May',
  'Audit fee',
  'Office rent',
  'Hosting',
  'Travel',
  'Grant, second part',
  '',
];
/** What became of each transaction, in turn; null: it is open. */
const STATES = [...Array(12).fill('completed'), 'rejected', 'processing', null, null] as const;

const base = aTransaction().build();

const RECIPIENTS = Array.from({ length: 9 }, () => anAddress());
const HOUR_MS = 3_600_000;

/** A payment of up to 2.5 ETH to one of nine, so many hours ago; most of them were made. */
function rowOf(hours: number): object {
  const units = (hours * 7_919) % 250_000;
  const to = RECIPIENTS[hours % RECIPIENTS.length] ?? '';
  const status = STATES[hours % STATES.length] ?? null;
  const at = new Date(Date.now() - hours * HOUR_MS).toISOString();
  return {
    description: PURPOSES[hours % PURPOSES.length] ?? '',
    to_address: to,
    content: {
      ...(base.content as object),
      destination: to,
      rawAmount: `${units}0000000000000`,
      displayAmount: String(units / 100_000),
    },
    execution_status: status,
    created_at: at,
    updated_at: at,
    expires_at: new Date(Math.floor(Date.now() / 1_000) * 1_000 + (200 - hours / 5) * HOUR_MS).toISOString(),
    closed_at: status === 'completed' || status === 'rejected' ? at : null,
  };
}

let site: Site;
let world: LargeWorld;
let payment: Shown;

beforeAll(async () => {
  site = await openSite();
  world = await makeLargeWorld(site.api, rowOf);
  const { org, treasury: account, byTwo: policy } = world;
  const body = aTransactionBody(org, { account, policy, to: anAddress() });
  payment = await initiate(site.api.http, org, {
    ...body,
    value: '1500000000000000000',
    description: 'Salaries of May',
  });
  mkdirSync(PICTURES, { recursive: true });
}, 300_000);
afterEach(() => site?.leave());
afterAll(() => site?.stop());

const PAGES = [
  ['home', () => '/'],
  ['requests', () => '/requests'],
  ['done', () => '/requests?tab=done'],
  ['request', () => `/requests/${payment.id}`],
  ['transfer', () => '/new/transfer'],
  ['account', () => `/accounts/${world.treasury.id}`],
  ['policies', () => '/policies'],
  ['members', () => '/members'],
] as const;

async function untilLoaded({ page }: Visitor): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  const loading = page.getByRole('status').filter({ hasText: /^Loading/ });
  await until('the page is loaded', async () => (await loading.count()) === 0);
}

describe('with 30 members, 25 policies, 15 accounts and 730 transactions', () => {
  describe.each(THEMES)('in %s colours', (colorScheme) => {
    it.each(PAGES)('%s fits a phone and a desktop', async (name, path) => {
      const visitor = await site.signedIn(world.org.alice, path(), { colorScheme });
      const { page } = visitor;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await untilLoaded(visitor);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect([name, width, overflow]).toEqual([name, width, 0]);
        expect(await page.getByText('The service is unavailable').count()).toBe(0);
        const file = `${name}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(PICTURES, file), fullPage: true });
      }
    });
  });
});
