import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createSiweMessage } from 'viem/siwe';
import { launchBrowser } from '../support/browser/launch';
import { type Comparison, compare } from './figures';
import { type ManyTransactions, storeTransactions } from './manyTransactions';
import { inTurn } from './measure';
import type { BenchStack } from './stack';

const FEW = 1_000;
const MANY = 100_000;
const ROUNDS = { warmUp: 2, counted: 12 };
const LIMIT_MS = 60_000;

/** Signs the first admin in, as a page does. */
async function signIn(
  context: BrowserContext,
  origin: string,
  { organization }: ManyTransactions,
): Promise<void> {
  const [wallet] = organization.wallets;
  if (!wallet) throw new Error('there is no wallet');
  const { data } = await (await context.request.get(`${origin}/session/nonce`)).json();
  const message = createSiweMessage({
    domain: new URL(origin).host,
    address: wallet.address,
    statement: 'Sign in to the organization wallet.',
    uri: origin,
    version: '1',
    chainId: data.networkIds[0],
    nonce: data.nonce,
    issuedAt: new Date(),
  });
  const answer = await context.request.post(`${origin}/session`, {
    headers: { origin },
    data: { message, signature: await wallet.signMessage({ message }) },
  });
  if (!answer.ok()) throw new Error(`POST /session: ${answer.status()} ${await answer.text()}`);
}

/** Somebody with the console of an organization in a browser of their own. */
class Reader {
  private constructor(
    private readonly page: Page,
    private readonly of: ManyTransactions,
  ) {}

  static async start(browser: Browser, stack: BenchStack, count: number): Promise<Reader> {
    const of = await storeTransactions(stack, count);
    of.payments.close();
    const origin = `https://localhost:${stack.httpsPort}`;
    const context = await browser.newContext({
      baseURL: origin,
      ignoreHTTPSErrors: true,
      reducedMotion: 'reduce',
      viewport: { width: 1_440, height: 900 },
    });
    context.setDefaultTimeout(LIMIT_MS);
    await signIn(context, origin, of);
    return new Reader(await context.newPage(), of);
  }

  /** Loads a page, until it shows the first transaction. */
  async load(path: string): Promise<void> {
    await this.page.goto(path);
    await this.untilRow();
  }

  home = () => this.load('/');
  done = () => this.load('/requests?tab=done');
  search = () => this.load('/requests?tab=done&text=word7');
  account = () => this.load(`/accounts/${this.of.accountId}`);
  expired = () => this.load('/requests?tab=expired');
  open = () => this.load('/requests?tab=progress');

  /** From one tab to another, and back. */
  async tabs(): Promise<void> {
    for (const [name, tab] of [
      ['Failed or blocked', 'failed'],
      ['Done', 'done'],
    ] as const) {
      await this.page
        .getByRole('navigation', { name: 'Requests by state' })
        .getByRole('link', { name })
        .click();
      await this.page.waitForURL(`**tab=${tab}**`);
      await this.page.getByRole('list', { name }).locator('> li').first().waitFor();
    }
  }

  /** The next page of a list. */
  async older(): Promise<void> {
    const first = await this.untilRow();
    await this.page.getByRole('button', { name: 'Older' }).click();
    await this.page.locator(`main a[href="${first}"]`).waitFor({ state: 'detached' });
    await this.untilRow();
  }

  /** Waits for a row, and returns where it leads. */
  private async untilRow(): Promise<string | null> {
    const row = this.page.locator('main a[href^="/requests/txn_"]').first();
    await row.waitFor();
    return row.getAttribute('href');
  }
}

/** How soon the console shows its lists of 100,000 transactions, beside those of 1,000. */
export async function measurePages(stack: BenchStack): Promise<Comparison[]> {
  const browser = await launchBrowser();
  try {
    const few = await Reader.start(browser, stack, FEW);
    const many = await Reader.start(browser, stack, MANY);
    const comparisons: Comparison[] = [];
    for (const [what, work] of [
      ['home', (reader) => reader.home()],
      ['open requests', (reader) => reader.open()],
      ['expired requests', (reader) => reader.expired()],
      ['a search of done requests', (reader) => reader.search()],
      ['the history of an account', (reader) => reader.account()],
      ['done requests', (reader) => reader.done()],
      ['two tabs, one after the other', (reader) => reader.tabs()],
      ['the next page', (reader) => reader.older()],
    ] as const satisfies readonly (readonly [string, (reader: Reader) => Promise<void>])[]) {
      const taken = await inTurn({ many: () => work(many), few: () => work(few) }, ROUNDS);
      comparisons.push(
        compare(`console, ${what}, among 100,000 / 1,000`, 'ms', { product: taken.many, base: taken.few }),
      );
    }
    return comparisons;
  } finally {
    await browser.close();
  }
}
