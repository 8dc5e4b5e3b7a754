import { type Browser, chromium } from 'playwright-core';
import { browserCandidates, type Candidate } from './candidates';

/** The page is built for browsers from here on. */
const OLDEST_VERSION = 123;

const firstLine = (error: unknown) => (error as Error).message.split('\n')[0];

async function start({ find }: Candidate, env: NodeJS.ProcessEnv): Promise<Browser> {
  const found = await find();
  const browser = await chromium.launch({
    executablePath: found.path,
    headless: env.HEADED !== '1',
    ...(found.env ? { env: found.env as Record<string, string> } : {}),
  });
  const version = browser.version();
  if (Number.parseInt(version, 10) >= OLDEST_VERSION) return browser;
  await browser.close();
  throw new Error(`${found.path} is version ${version} (expected ${OLDEST_VERSION} or newer)`);
}

/**
 * Starts a browser: that of BROWSER_PATH, an installed one, or the one of the development dependencies. Throws Error
 * that says what was tried: tests of the page are never skipped. HEADED=1 shows it.
 */
export async function launchBrowser(
  env: NodeJS.ProcessEnv = process.env,
  candidates = browserCandidates(env),
): Promise<Browser> {
  const reasons: string[] = [];
  for (const candidate of candidates) {
    try {
      return await start(candidate, env);
    } catch (error) {
      reasons.push(`  ${candidate.name}: ${firstLine(error)}`);
    }
  }
  throw new Error(
    `no browser starts for the tests of the console:\n${reasons.join('\n')}\n` +
      `Install Chrome or Chromium ${OLDEST_VERSION} or newer, or set BROWSER_PATH to its program.`,
  );
}
