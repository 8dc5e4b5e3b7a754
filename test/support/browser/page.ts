import type { Locator } from 'playwright-core';
import type { Visitor } from './visitor';

/** A button by its name. */
export const button = ({ page }: Visitor, name: string | RegExp): Locator =>
  page.getByRole('button', { name });

/** A section of a page by its heading. */
export const section = ({ page }: Visitor, name: string): Locator => page.getByRole('region', { name });

/** What a page reports as wrong. */
export const alert = ({ page }: Visitor): Locator => page.getByRole('alert');

/** Waits until a page has this heading. */
export const untilOn = ({ page }: Visitor, title: string): Promise<void> =>
  page.getByRole('heading', { name: title, level: 1 }).waitFor();

/** Waits until a page has this text. */
export const untilShown = ({ page }: Visitor, text: string | RegExp): Promise<void> =>
  page.getByText(text).waitFor();

/** Waits until a request's page says that a field of its payload is not what was asked, and offers no vote. */
export async function untilNotSignable(visitor: Visitor, field: string): Promise<void> {
  const refusal = alert(visitor).filter({ hasText: 'Do not sign: the payload does not match the request' });
  await refusal.getByRole('definition').first().getByText(field, { exact: true }).waitFor();
  const votes = await button(visitor, /^(Sign\b(?! out)|Approve|Reject)/).count();
  if (votes > 0) throw new Error(`the page offers ${votes} votes beside the refusal`);
}

/** Who has signed and who has not, as a request's page lists them: `Alice: approved`. */
export async function signaturesOn(visitor: Visitor): Promise<string[]> {
  const rows = await section(visitor, 'Signatures').getByRole('listitem').allTextContents();
  return rows.map((text) => text.replace(/ 0x[0-9a-fA-F]{4}….{4}/, ': '));
}

/** Chooses in the form of a policy what is widest: from any account, to anybody, by any member, without approval. */
export async function permitAnybody({ page }: Visitor): Promise<void> {
  await page.getByLabel('Any account').check();
  await page.getByLabel('Any recipient').check();
  await page.getByLabel('Initiator', { exact: true }).selectOption('anybody');
  await page.getByLabel('Approver', { exact: true }).selectOption('nobody');
}
