import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { DEEP } from '../suite';

/** A phone and a desktop, in both themes; `npm test` looks at each once. */
const LOOKS = [
  { width: 390, colorScheme: 'dark' },
  { width: 1_440, colorScheme: 'light' },
  ...(DEEP
    ? ([
        { width: 390, colorScheme: 'light' },
        { width: 1_440, colorScheme: 'dark' },
      ] as const)
    : []),
] as const;

/** What axe finds on a page as it is, as text: rule, help and elements. */
async function violationsOf(page: Page, exceptRules: string[]): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    // What the rules found in order is megabytes; and without frames one run has all results.
    .options({ resultTypes: ['violations'] })
    .setLegacyMode()
    .disableRules(exceptRules)
    .analyze();
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  );
}

/** What axe finds on a page in every look, by all of its rules but some. The page is left light and wide. */
export async function violationsEverywhere(page: Page, exceptRules: string[] = []): Promise<string[]> {
  const found: string[] = [];
  for (const { width, colorScheme } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    found.push(
      ...(await violationsOf(page, exceptRules)).map(
        (violation) => `${width} px, ${colorScheme}: ${violation}`,
      ),
    );
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}
