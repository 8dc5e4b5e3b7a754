import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import type { Browser } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { projectRoot } from '../../src/projectRoot';
import { violationsEverywhere } from '../support/browser/axe';
import { launchBrowser } from '../support/browser/launch';
import { visit } from '../support/browser/visitor';
import { temporaryDir } from '../support/stack';

const STORIES = join(projectRoot(), 'console', 'stories');
/** What a component is not asked for: they are about a whole page. */
const OF_PAGES = ['region', 'landmark-one-main', 'page-has-heading-one'];

const run = promisify(execFile);

let browser: Browser;
let server: Server;
let origin: string;
let ids: readonly string[];

const npm = (...args: readonly string[]) => run('npm', args, { cwd: STORIES, maxBuffer: 2 ** 24 });

beforeAll(async () => {
  const built = join(temporaryDir(), 'stories');
  await npm('ci');
  await npm('run', 'build', '--', '--output-dir', built);
  const { entries } = JSON.parse(readFileSync(join(built, 'index.json'), 'utf8')) as { entries: object };
  ids = Object.keys(entries);
  server = express().use(express.static(built)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
}, 300_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
});

it('every state of a component is shown without a fault, fits a phone, and has no violation that axe finds', async () => {
  expect(ids.length).toBeGreaterThan(50);
  const found: string[] = [];
  const visitor = await visit(browser, origin, privateKeyToAccount(generatePrivateKey()), {});
  const { page } = visitor;
  for (const id of ids) {
    await page.goto(`/iframe.html?id=${id}&viewMode=story`);
    await page.locator('#storybook-root > *, [role=dialog]').first().waitFor();
    const violations = await violationsEverywhere(page, OF_PAGES);
    await page.setViewportSize({ width: 390, height: 900 });
    const overflow: number = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    found.push(...violations.map((violation) => `${id}: ${violation}`));
    if (overflow > 0) found.push(`${id}: 390 px: ${overflow} px too wide`);
  }
  expect(found).toEqual([]);
  expect(visitor.faults).toEqual([]);
  await visitor.context.close();
}, 300_000);
