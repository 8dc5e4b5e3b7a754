import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const WIDTHS = [390, 1_440];
const THEMES = ['light', 'dark'] as const;

/** What axe finds on a page as it is, as text: rule, help and elements. */
export async function violationsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  );
}

/** What axe finds on a page in both themes, on a phone and on a desktop. The page is left light and wide. */
export async function violationsEverywhere(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      found.push(
        ...(await violationsOf(page)).map((violation) => `${width} px, ${colorScheme}: ${violation}`),
      );
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}
