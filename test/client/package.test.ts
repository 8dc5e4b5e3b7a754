import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { projectRoot } from '../../src/projectRoot';
import { temporaryDir } from '../support/stack';

const run = promisify(execFile);
const root = projectRoot();
const client = join(root, 'client');
/** Of each entry, alone. */
const MAX_BYTES = { index: 18_200, rescue: 5_000 };
/** Programs of their own, on a machine that may be busy. */
const LIMIT_MS = 120_000;

/** Code of somebody who has installed the package. */
const CALLER = `
import { createOrgwallet, type OrgwalletError, signWith, verify } from '@orgwallet/client';
import { privateKeyToAccount } from 'viem/accounts';

const orgwallet = createOrgwallet({ baseUrl: 'https://wallet.example/api/v1', apiKey: 'ow_live_none' });
export const wallet = signWith.viem(privateKeyToAccount(\`0x\${'1'.repeat(64)}\`));
export async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of orgwallet.each('listMembers')) found.push(name);
  return found;
}
export function field(error: OrgwalletError): string | undefined {
  if (error.code === 'payloadMismatch') return error.field;
  if (error.code === 'noAnswer') return error.idempotencyKey;
  if (error.code === 'notConnected') return error.setting;
  if (error.code === 'notReached' || error.code === 'notPermitted' || error.code === 'notSigned') return error.message;
  return error.code === 'validationError' ? error.details.field : error.requestId;
}
// @ts-expect-error: an account is named
export const bad = () => orgwallet.transfer({ networkId: 1, to: '0x', amount: 1n, wallet });
// @ts-expect-error: members are removed by their ids
export const wrong = () => verify('', { type: 'members.remove', items: [] });
// @ts-expect-error: there is no such status
export const never = () => orgwallet.waitFor('txn_', 'done');
`;

const scripts = () => readdirSync(join(client, 'dist')).filter((file) => file.endsWith('.js'));

describe('the package @orgwallet/client', () => {
  it.each(Object.entries(MAX_BYTES))(
    'adds with its entry %s at most %d bytes to what a bundler sends, minified and compressed, without viem',
    async (entry, most) => {
      const minified = temporaryDir();
      const builder = JSON.stringify(pathToFileURL(join(root, 'tools', 'dev', 'buildClient.mjs')).href);
      const options = JSON.stringify({ minify: true, entries: [entry] });
      const program = `const { buildClient } = await import(${builder});
        await buildClient(${JSON.stringify(minified)}, ${options});`;
      await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
      expect(gzipSync(readFileSync(join(minified, `${entry}.js`))).length).toBeLessThanOrEqual(most);
    },
    LIMIT_MS,
  );

  it('is readable where it is installed', () => {
    const code = scripts().map((file) => readFileSync(join(client, 'dist', file), 'utf8'));
    const lines = code.join('').split('\n');
    expect(lines.length).toBeGreaterThan(1000);
    expect(code.join('')).toMatch(/PayloadMismatch = class extends Error/);
  });

  it('imports viem and its own files, and nothing else', () => {
    const imported = scripts().flatMap((file) =>
      [...readFileSync(join(client, 'dist', file), 'utf8').matchAll(/from\s*["']([^"']+)["']/g)].map(
        ([, name]) => name,
      ),
    );
    expect([...new Set(imported)].filter((name) => !name?.startsWith('./'))).toEqual(['viem']);
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
    expect([dependencies, Object.keys(peerDependencies)]).toEqual([undefined, ['viem']]);
  });

  it('is an ES module that CommonJS can require', async () => {
    const shown = 'console.log(typeof client.verify, typeof client.createOrgwallet)';
    const asModule = ['--input-type=module', '-e', `import * as client from '@orgwallet/client'; ${shown}`];
    const asCommonJs = [
      '--input-type=commonjs',
      '-e',
      `const client = require('@orgwallet/client'); ${shown}`,
    ];
    for (const args of [asModule, asCommonJs]) {
      expect(await run(process.execPath, args, { cwd: root })).toEqual({
        stdout: 'function function\n',
        stderr: '',
      });
    }
  });

  it(
    'has types that a caller in strict mode compiles with',
    async () => {
      const dir = temporaryDir();
      const installed = join(dir, 'node_modules', '@orgwallet', 'client');
      mkdirSync(installed, { recursive: true });
      symlinkSync(join(root, 'node_modules', 'viem'), join(dir, 'node_modules', 'viem'));
      const tsc = join(root, 'node_modules', '.bin', 'tsc');
      await run(tsc, ['-p', client, '--outDir', join(installed, 'dist'), '--incremental', 'false']);
      writeFileSync(join(installed, 'package.json'), readFileSync(join(client, 'package.json')));
      writeFileSync(join(dir, 'caller.ts'), CALLER);
      const compilerOptions = {
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable'],
        module: 'preserve',
        moduleResolution: 'bundler',
        types: [],
      };
      writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['caller.ts'] }));
      const { stdout } = await run(tsc, ['-p', dir]).catch(({ stdout: text }) => ({
        stdout: text,
      }));
      expect(stdout).toBe('');
    },
    LIMIT_MS,
  );
});
