import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../src/db/database';
import { newId } from '../../src/db/ids';
import { projectRoot } from '../../src/projectRoot';
import type { Shown } from '../support/api';
import { makePaymentWorld, type PaymentWorld } from '../support/browser/paymentWorld';
import { openSite, type Site } from '../support/browser/site';
import type { Visitor } from '../support/browser/visitor';
import { anAddress } from '../support/builders';
import { storeAccount, storeTransaction } from '../support/storedTransactions';
import { aTransactionBody, initiate } from '../support/transactionApi';
import { aTransaction } from '../support/transactionRecords';
import { until } from '../support/until';

/** Where the pictures are put, for whoever wants to look at them. */
const PICTURES = join(projectRoot(), 'dist', 'screenshots');
const WIDTHS = [390, 1_440] as const;
const THEMES = ['light', 'dark'] as const;

const TRANSACTIONS = 730;
/** How many transactions are stored at once: each takes a connection to the database. */
const AT_ONCE = 4;

const NAMES = ['Ada', 'Ben', 'Chloé', 'Dmitri', 'Esra', 'Fatima', 'Grace', 'Hiroshi', 'Ines', 'Jonas'];
const PURPOSES = [
  'Salaries of May',
  'Audit fee',
  'Office rent',
  'Hosting',
  'Travel',
  'Grant, second part',
  '',
];
const STATES = [
  ...Array(12).fill({ execution_status: 'completed' }),
  { execution_status: 'rejected' },
  { execution_status: 'processing' },
  { execution_status: null },
  { execution_status: null },
];

let site: Site;
let world: PaymentWorld;
let owner: Db;
let payment: Shown;

/** Copies a row of a table with other values. */
async function copyRow(table: string, id: string, change: object): Promise<void> {
  await owner.raw(
    `INSERT INTO ?? SELECT copy.* FROM ?? t, jsonb_populate_record(NULL::${table}, to_jsonb(t) || ?::jsonb) copy WHERE t.id = ?`,
    [table, table, JSON.stringify(change), id],
  );
}

/** 30 members, 25 policies, 15 accounts and 730 transactions. */
async function furnish(): Promise<void> {
  const { org, byTwo, treasury } = world;
  for (let n = 0; n < 26; n += 1) {
    const name = `${NAMES[n % NAMES.length]} ${'ABC'[Math.floor(n / NAMES.length)]}.`;
    await copyRow('members', org.dave.id, {
      id: newId('mem'),
      name,
      wallet_address: anAddress(),
      position: 1_000 + n,
    });
  }
  for (let n = 0; n < 23; n += 1) {
    await copyRow('policies', byTwo.id, {
      id: newId('pol'),
      name: `Payments of team ${n + 1}`,
      position: 1_000 + n,
    });
  }
  const accounts = [treasury.id as string];
  for (let n = 0; n < 14; n += 1) {
    const { id } = await storeAccount(owner, org.id, { name: `Subsidiary ${n + 1}` });
    accounts.push(id);
  }
  const base = aTransaction().build();
  const store = async (n: number) => {
    const units = (n * 7_919) % 250_000;
    const rawAmount = `${units}0000000000000`;
    const displayAmount = String(units / 100_000);
    const content = { ...(base.content as object), rawAmount, displayAmount } as typeof base.content;
    const of = {
      organizationId: org.id,
      accountId: accounts[n % accounts.length] ?? '',
      policyId: byTwo.id as string,
      initiatorId: org.dave.id,
    };
    const id = newId('txn');
    const change = {
      id,
      content,
      position: BigInt(10_000 + n),
      description: PURPOSES[n % PURPOSES.length] ?? '',
    };
    await storeTransaction(owner, of, change);
    const { execution_status } = STATES[n % STATES.length];
    const at = owner.raw('now() - make_interval(hours => ?)', [TRANSACTIONS - n]);
    const closed = execution_status === 'completed' || execution_status === 'rejected';
    await owner('approvals')
      .where({ id })
      .update({ execution_status, created_at: at, updated_at: at, ...(closed ? { closed_at: at } : {}) });
  };
  for (let first = 0; first < TRANSACTIONS; first += AT_ONCE) {
    const part = Math.min(AT_ONCE, TRANSACTIONS - first);
    await Promise.all(Array.from({ length: part }, (_, n) => store(first + n)));
  }
}

beforeAll(async () => {
  site = await openSite();
  world = await makePaymentWorld(site.api);
  owner = site.api.db;
  await furnish();
  const { org, treasury: account, byTwo: policy } = world;
  const body = aTransactionBody(org, { account, policy, to: anAddress() });
  payment = await initiate(site.api.http, org, {
    ...body,
    value: '1500000000000000000',
    description: 'Salaries of May',
  });
  mkdirSync(PICTURES, { recursive: true });
});
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
      for (const width of WIDTHS) {
        await visitor.page.setViewportSize({ width, height: 900 });
        await untilLoaded(visitor);
        const overflow = await visitor.page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect([name, width, overflow]).toEqual([name, width, 0]);
        await visitor.page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
      }
    });
  });
});
