import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { projectRoot } from '../../../src/projectRoot';
import { startTestService, type TestMember, type TestService } from '../service';
import { cookieOf, originOf, trySignIn } from '../session';
import { temporaryDir } from '../stack';
import { until } from '../until';
import { launchBrowser } from './launch';
import { type Visitor, visit } from './visitor';

/** Somebody's wallet. */
type Person = Pick<TestMember, 'wallet'>;

/** A service with the console as it is built, and a browser. */
export interface Site {
  readonly api: TestService;
  readonly origin: string;
  readonly browser: Browser;
  /** Opens a page for somebody who is not signed in. */
  visit(person: Person, path?: string, options?: BrowserContextOptions): Promise<Visitor>;
  /** Opens a page for somebody who is: the sign-in itself is the subject of a test of its own. */
  signedIn(person: Person, path?: string, options?: BrowserContextOptions): Promise<Visitor>;
  /** After each test: closes what was opened. Throws Error when a page did what no page may do. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

/** A copy of the console as it is built: a page must not lose its parts where it is built again meanwhile. */
async function copyConsole(): Promise<string> {
  const built = join(projectRoot(), 'console', 'dist');
  const copy = join(temporaryDir(), 'console');
  await until('the console is built', async () => {
    if (!existsSync(join(built, '.built-from'))) return false;
    cpSync(built, copy, { recursive: true });
    return existsSync(join(built, '.built-from'));
  });
  return copy;
}

/** Starts both, for a test file. */
export async function openSite(env: NodeJS.ProcessEnv = {}): Promise<Site> {
  const consoleDir = { CONSOLE_DIR: await copyConsole() };
  const [api, browser] = await Promise.all([
    startTestService({ env: { ...consoleDir, ...env } }),
    launchBrowser(),
  ]);
  const visitors: Visitor[] = [];
  const open = async ({ wallet }: Person, options: BrowserContextOptions) => {
    const visitor = await visit(browser, originOf(api), wallet, options);
    visitors.push(visitor);
    return visitor;
  };
  const cookies = new Map<string, string>();
  /** The cookie of a new session; of the last one where a person signs in more often than the service takes. */
  const cookieFor = async ({ wallet }: Person): Promise<string> => {
    const answer = await trySignIn(api, wallet);
    const kept = cookies.get(wallet.address);
    if (answer.status === 429 && kept !== undefined) return kept;
    if (answer.status !== 201) throw new Error(`POST /session → ${answer.status} ${answer.text}`);
    cookies.set(wallet.address, cookieOf(answer));
    return cookieOf(answer);
  };
  return {
    api,
    origin: originOf(api),
    browser,
    async visit(person, path = '/', options = {}) {
      const visitor = await open(person, options);
      await visitor.page.goto(path);
      return visitor;
    },
    async signedIn(person, path = '/', options = {}) {
      const visitor = await open(person, options);
      const [name = '', value = ''] = (await cookieFor(person)).split('=');
      const attributes = { path: '/', domain: 'localhost', httpOnly: true, secure: true } as const;
      await visitor.context.addCookies([{ name, value, ...attributes, sameSite: 'Strict' }]);
      await visitor.page.goto(path);
      return visitor;
    },
    async leave() {
      const left = visitors.splice(0);
      await Promise.all(
        left.map(async ({ context }) => {
          // Answers that are on their way to a page that is closed.
          for (const routed of [context, ...context.pages()])
            await routed.unrouteAll({ behavior: 'ignoreErrors' });
          await context.close();
        }),
      );
      const faults = left.flatMap((visitor) => visitor.faults);
      if (faults.length > 0) throw new Error(`the page did what it must not:\n${faults.join('\n')}`);
    },
    async stop() {
      await browser.close();
      await api.stop();
    },
  };
}

/**
 * Opens a site before the tests of a file, leaves it after each of them and stops it after all. `prepare` gets it once it is
 * open, and makes what the tests need.
 */
export function siteForTests(prepare: (site: Site) => Promise<void> | void, limitMs?: number): void {
  let site: Site | undefined;
  beforeAll(async () => {
    site = await openSite();
    await prepare(site);
  }, limitMs);
  afterEach(() => site?.leave());
  afterAll(() => site?.stop());
}
