import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { TestWallet } from './wallet';

/** How long a page may take for anything that is waited for, in ms: the machine may be busy. */
const LIMIT_MS = 60_000;

/** Somebody with a browser and a wallet. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly wallet: TestWallet;
  /** What their pages did that no page may do: exceptions, errors, violations of the CSP, requests to another origin. */
  readonly faults: readonly string[];
}

/** The browser reports answers with an error status; the tests that cause them check what the page makes of them. */
const isAnswer = (text: string) => text.startsWith('Failed to load resource');

function faultsOf(context: BrowserContext, origin: string): readonly string[] {
  const faults: string[] = [];
  context.on('weberror', (error) => faults.push(`exception: ${error.error().message}`));
  context.on('console', (message) => {
    const isFault = ['error', 'warning'].includes(message.type()) && !isAnswer(message.text());
    if (isFault) faults.push(`${message.type()}: ${message.text()}`);
  });
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`request to ${url}`);
  });
  return faults;
}

/** Gives somebody a browser of their own with their wallet, on an empty page. */
export async function visit(
  browser: Browser,
  origin: string,
  account: PrivateKeyAccount,
  options: BrowserContextOptions,
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL: origin,
    // The certificate of the tests is its own authority.
    ignoreHTTPSErrors: true,
    reducedMotion: 'reduce',
    viewport: { width: 1_440, height: 900 },
    ...options,
  });
  context.setDefaultTimeout(LIMIT_MS);
  const faults = faultsOf(context, origin);
  await context.addInitScript({ path: join(__dirname, 'reportViolations.js') });
  const wallet = await new TestWallet(context, [account]).install();
  return { context, wallet, faults, page: await context.newPage() };
}
