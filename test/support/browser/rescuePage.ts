import { execFile } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { requireRow } from '../../../src/db/rows';
import { projectRoot } from '../../../src/projectRoot';
import type { RescueAdmin, RescueWorld } from '../rescueWorld';
import { temporaryDir } from '../stack';
import { until } from '../until';
import { button, untilShown } from './page';
import { type Visitor, visit } from './visitor';

/** A copy of the rescue page as it is built: it must stay where it is built again meanwhile. */
export function copyOfRescuePage(): string {
  const file = join(temporaryDir(), 'rescue.html');
  cpSync(join(projectRoot(), 'dist', 'rescue.html'), file);
  return file;
}

/** Builds the rescue page once more; returns its path. */
export async function buildRescuePage(): Promise<string> {
  const file = join(temporaryDir(), 'rescue.html');
  const builder = join(projectRoot(), 'tools', 'dev', 'buildRescue.mjs');
  await promisify(execFile)(process.execPath, [builder, file], { cwd: projectRoot() });
  return file;
}

/** The address of a file in a browser. */
const addressOfFile = (file: string): string => pathToFileURL(file).href;

/** Opens the page from its file, with the wallet of an admin: no server is asked for anything. */
export async function openRescuePage(
  browser: Browser,
  file: string,
  { wallet }: Pick<RescueAdmin, 'wallet'>,
): Promise<Visitor> {
  const visitor = await visit(browser, 'file://', wallet, {});
  await visitor.page.goto(addressOfFile(file));
  return visitor;
}

/** Presses a button of the page. */
export const press = (visitor: Visitor, name: string) => button(visitor, name).click();
/** A control, by its label. */
export const field = ({ page }: Visitor, label: string) => page.getByLabel(label, { exact: true });

/** Opens the kit from a saved file. */
export async function openKit(visitor: Visitor, { kit }: Pick<RescueWorld, 'kit'>): Promise<void> {
  const saved = join(temporaryDir(), 'kit.json');
  writeFileSync(saved, JSON.stringify(kit, null, 2));
  await field(visitor, 'File').setInputFiles(saved);
  await press(visitor, 'Open the kit');
  await untilShown(visitor, 'The kit is whole.');
}

/** Connects the wallet, and reads a network through it. */
export async function readNetwork(visitor: Visitor, networkId: number): Promise<void> {
  await field(visitor, 'Network').selectOption(String(networkId));
  await press(visitor, 'Connect and read the network');
  await untilShown(visitor, 'was read.');
}

/** Shows what is signed; returns the hash. */
export async function prepare(visitor: Visitor): Promise<string> {
  await press(visitor, 'Show what is signed');
  const hash = visitor.page.locator('#prepared-facts dt', { hasText: 'Hash that is signed' });
  await hash.waitFor();
  return String(await visitor.page.locator('#prepared-facts code').last().textContent());
}

/** Signs, and returns the text to pass on. */
export async function signed(visitor: Visitor): Promise<string> {
  await press(visitor, 'Sign with this wallet');
  const own = field(visitor, 'Your signature, to send to the other admins');
  return until('the signature is shown', () => own.inputValue());
}

/** Two admins sign the same, pass it on as text, and the second one sends it. */
async function together(first: Visitor, second: Visitor): Promise<void> {
  const hash = await prepare(first);
  const text = await signed(first);
  expect(await prepare(second)).toBe(hash);
  await field(second, 'Signatures of other admins').fill(`Here is mine:\n> ${text}\nbye`);
  await press(second, 'Add these signatures');
  await untilShown(second, /^1 of 2 signatures: Alice/);
  expect(await button(second, 'Send it').isDisabled()).toBe(true);
  await signed(second);
  await untilShown(second, /^2 of 2 signatures: .*It can be sent/);
  await press(second, 'Send it');
  await untilShown(second, /^Done in transaction/);
}

/** Two admins take the accounts of a network over, and have one of them pay 1.5 ETH. Both have opened the kit. */
export async function rescueByPage(
  world: RescueWorld,
  networkId: number,
  [first, second]: readonly [Visitor, Visitor],
  payee: string,
): Promise<void> {
  const chain = requireRow(world.chains.find((one) => one.networkId === networkId));
  const both = [first, second];
  for (const visitor of both) await readNetwork(visitor, networkId);
  const count = world.accounts.length;
  expect(await first.page.getByText('can be taken over').count()).toBe(count);
  await together(first, second);
  await untilShown(second, new RegExp(`${count} of ${count} accounts on .* belong to the admins`));
  expect(await second.page.getByText('taken over: it belongs to the admins').count()).toBe(count);
  await world.expectTaken(chain);
  for (const visitor of both) {
    await readNetwork(visitor, networkId);
    await field(visitor, 'Move money of an account that is taken over').check();
    await field(visitor, 'To address').fill(payee);
    await field(visitor, 'Amount').fill('1.5');
  }
  await together(first, second);
  for (const visitor of both) await field(visitor, 'Take the accounts over').check();
}
