import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';
import { button } from '../support/browser/page';
import { openSite, type Site } from '../support/browser/site';
import { type Visitor, visit } from '../support/browser/visitor';
import type { TestOrganization } from '../support/service';
import { freePorts } from '../support/stack';

let site: Site;
let org: TestOrganization;
let server: ChildProcess;
let url: string;

/** Starts `npm run dev` in front of the service. Returns where its page is, as it says. */
async function serve(): Promise<string> {
  const [port] = await freePorts(1);
  const script = join(projectRoot(), 'tools', 'dev', 'serveConsole.mjs');
  server = spawn(process.execPath, [script, site.origin, String(port)]);
  let said = '';
  return new Promise((resolve, reject) => {
    const hear = (part: Buffer) => {
      said += part.toString();
      const [found] = /https:\S+/.exec(said) ?? [];
      if (found) resolve(found);
    };
    server.stdout?.on('data', hear);
    server.stderr?.on('data', hear);
    server.once('exit', () => reject(new Error(`npm run dev has ended: ${said}`)));
  });
}

beforeAll(async () => {
  site = await openSite();
  org = await site.api.createOrganization();
  url = await serve();
}, 120_000);
afterAll(async () => {
  server?.kill();
  await site?.stop();
});

it('shows the console of a running service, where one signs in to that service', async () => {
  const visitor: Visitor = await visit(site.browser, url, org.alice.wallet, {});
  try {
    await visitor.page.goto('/');
    await button(visitor, 'Sign in with Test Wallet').click();
    await visitor.page.getByRole('banner').getByText('Alice', { exact: true }).waitFor();
    await visitor.page.goto('/members');
    await visitor.page.getByRole('row', { name: /^Dave / }).waitFor();
    expect(visitor.faults).toEqual([]);
  } finally {
    await visitor.context.close();
  }
});

it('loads a part of the page again once it has changed', async () => {
  const visitor = await visit(site.browser, url, org.alice.wallet, {});
  try {
    await visitor.page.goto('/');
    await button(visitor, 'Sign in with Test Wallet').waitFor();
    // What Vite adds to a component that it can replace while the page goes on.
    const source = await visitor.page.evaluate(`fetch('/src/ui/Badge.tsx').then((part) => part.text())`);
    expect(source).toContain('import.meta.hot');
    expect(source).toContain('$RefreshReg$');
  } finally {
    await visitor.context.close();
  }
});
