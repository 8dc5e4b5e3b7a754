import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { recoverMessageAddress } from 'viem';
import { createApp } from '../../src/api/app';
import { propose, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { launchBrowser } from '../support/browser/launch';
import { HttpClient } from '../support/http';
import type { TestOrganization } from '../support/service';
import { ownSettings, start, untilStarted } from '../support/start';

const LIMIT_MS = 180_000;

let started: ReturnType<typeof start>;
let demo: Shown;
let port: number;
let browser: Browser;

beforeAll(async () => {
  const env = await ownSettings();
  started = start(env);
  [, browser] = await Promise.all([untilStarted(started), launchBrowser()]);
  demo = JSON.parse(readFileSync(join(env.ORGWALLET_DATA_DIR, 'demo.json'), 'utf8'));
  port = Number(env.HTTPS_PORT);
}, LIMIT_MS);
afterAll(async () => {
  await browser?.close();
  started?.child.kill('SIGTERM');
  await started?.exited;
}, LIMIT_MS);

const personOf = (name: string): Shown =>
  [...demo.admins.members, ...demo.members].find((one: Shown) => one.name === name);

/** Opens the sign-in page without any wallet of the browser. */
async function open(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: demo.origin });
  const page = await context.newPage();
  await page.goto('/');
  return page;
}

const dialogOf = (page: Page) =>
  page.getByRole('dialog').filter({ hasText: 'Demo wallet: not for real money.' });
const signIn = async (page: Page, name: string) => {
  await page.getByRole('button', { name: `Sign in with ${name} (demo wallet)` }).click();
  await dialogOf(page).getByRole('button', { name: 'Sign', exact: true }).click();
  await page.getByRole('banner').getByText(name, { exact: true }).waitFor();
};

describe('a demo wallet', () => {
  it('signs in each person of the demo, and no bot', async () => {
    const page = await open();
    const buttons = page.getByRole('button', { name: /^Sign in with/ });
    await buttons.first().waitFor();
    const names = await buttons.allTextContents();
    expect(names.map((text) => text.trim()).sort()).toEqual(
      ['Alice', 'Bob', 'Carol', 'Dave'].map((name) => `Sign in with ${name} (demo wallet)`),
    );
    await page.getByRole('button', { name: 'Sign in with Dave (demo wallet)' }).click();
    await dialogOf(page).getByText('This approves nothing and moves no money').waitFor();
    expect(await violationsEverywhere(page)).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Decline' }).click();
    await page.getByText('The request was declined in Dave (demo wallet). Nothing was signed.').waitFor();
    await signIn(page, 'Dave');
    await page.context().close();
  });

  it(
    'signs votes as any wallet does, with the mark and what is signed in its dialog',
    async () => {
      const [bot] = demo.apiKeys;
      const http = new HttpClient(port, readFileSync(demo.caFile, 'utf8'));
      const org = { adminKey: bot.key } as TestOrganization;
      const proposal = await propose(http, org, { name: 'By demo wallets' });
      http.close();
      for (const [name, vote, outcome] of [
        ['Alice', 'Approve: 1 more after yours', '1 of 2 approvals'],
        ['Bob', 'Approve and execute', 'It was executed as it was signed.'],
      ] as const) {
        const page = await open();
        await signIn(page, name);
        await page.goto(`/requests/${proposal.id}`);
        await page.getByRole('button', { name: vote }).click();
        await dialogOf(page).getByText('Create account "By demo wallets"').first().waitFor();
        await dialogOf(page).getByRole('button', { name: 'Sign', exact: true }).click();
        await page.getByText(outcome).waitFor();
        await page.context().close();
      }
    },
    LIMIT_MS,
  );
});

/** A request to the wallets, from a socket of its own. */
function ask(
  headers: { readonly [name: string]: string },
  { method = 'POST', path = '/demo-wallets/requests', host = '127.0.0.1', body = '' } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host, port, method, path, headers, rejectUnauthorized: false, servername: 'localhost' };
    const outgoing = request(options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('somebody else', () => {
  const own = () => ({
    host: `localhost:${port}`,
    origin: `https://localhost:${port}`,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  });
  const signing = () =>
    JSON.stringify({
      address: personOf('Alice').walletAddress,
      method: 'personal_sign',
      data: `0x${Buffer.from('anything').toString('hex')}`,
    });

  it('gets what the page of this machine gets only as the page', async () => {
    const { status, text } = await ask(own(), { body: signing() });
    expect(status).toBe(200);
    const signature = JSON.parse(text).data;
    expect(await recoverMessageAddress({ message: 'anything', signature })).toBe(
      personOf('Alice').walletAddress,
    );
  });

  it.each<[string, { readonly [name: string]: string }]>([
    ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of another site, in a browser that does not say so', { origin: 'https://evil.example' }],
    [
      'a page of another port of this machine',
      { origin: 'https://localhost:1', 'sec-fetch-site': 'same-site' },
    ],
    ['a page of the other name of this machine', { origin: 'https://127.0.0.1' }],
    ['a page without an origin, as in a sandbox', { origin: 'null' }],
    ['a name that only leads here', { host: 'evil.example', origin: 'https://evil.example' }],
    ['a name that only leads here, with a header of a page here', { host: 'evil.example' }],
    ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['a proxy by the standard', { forwarded: 'for=203.0.113.7' }],
    ['a form', { 'content-type': 'text/plain' }],
  ])('as %s gets no signature', async (_, changed) => {
    const { status, text } = await ask({ ...own(), ...changed }, { body: signing() });
    expect([400, 403]).toContain(status);
    expect(text).not.toMatch(/0x[0-9a-f]{130}/);
  });

  it('without an origin gets no signature', async () => {
    const { origin: _, ...others } = own();
    expect((await ask(others, { body: signing() })).status).toBe(403);
  });

  it('reads neither the wallets in the page nor their script', async () => {
    const page = { method: 'GET', path: '/' };
    const html = 'text/html';
    expect((await ask({ host: `localhost:${port}`, accept: html }, page)).text).toContain('demo-wallets');
    for (const headers of [
      { host: 'evil.example', accept: html },
      { host: `localhost:${port}`, accept: html, 'x-forwarded-for': '203.0.113.7' },
    ]) {
      const { status, text } = await ask(headers, page);
      expect([status, text.includes('demo-wallets')]).toEqual([200, false]);
    }
    const script = { method: 'GET', path: '/demo-wallets/page.js' };
    expect((await ask({ host: `localhost:${port}`, 'sec-fetch-site': 'same-origin' }, script)).status).toBe(
      200,
    );
    expect((await ask({ host: `localhost:${port}`, 'sec-fetch-site': 'cross-site' }, script)).status).toBe(
      403,
    );
    expect((await ask({ host: 'evil.example' }, script)).status).toBe(403);
  });

  it('on another machine gets nothing, also with the headers of a page here', async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    // A machine without a network has nobody else.
    if (!outside) return;
    const { status } = await ask(own(), { host: outside.address, body: signing() });
    expect(status).toBe(403);
    const page = await ask(
      { host: `localhost:${port}`, accept: 'text/html' },
      { method: 'GET', path: '/', host: outside.address },
    );
    expect(page.text).not.toContain('demo-wallets');
  });

  it.each([
    ['a wallet of nobody of the demo', { address: `0x${'1'.repeat(40)}` }],
    ['a bot', { address: () => personOf('Payments Bot').walletAddress }],
    ['another method', { method: 'eth_sign' }],
    ['what is not typed data', { method: 'eth_signTypedData_v4', data: undefined, typedData: '{"a":1}' }],
    [
      'a chain that is not local',
      { method: 'eth_sendTransaction', data: undefined, chainId: 1, to: '0x01', value: '0x1' },
    ],
  ])('who names %s is refused', async (_, changed) => {
    const given = Object.fromEntries(
      Object.entries(changed).map(([field, value]) => [field, typeof value === 'function' ? value() : value]),
    );
    const body = JSON.stringify({ ...JSON.parse(signing()), ...given });
    expect((await ask(own(), { body })).status).toBe(400);
  });
});

describe('production', () => {
  it('refuses whatever is added to the console', () => {
    const config = { production: true };
    const pageAddition = { routes: () => undefined, head: () => '' };
    expect(() => createApp({ config, pageAddition } as unknown as Parameters<typeof createApp>[0])).toThrow(
      'nothing is added to the console in production',
    );
  });
});
