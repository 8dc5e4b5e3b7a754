import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { temporaryDir } from '../support/stack';

const root = projectRoot();
const ARE_THE_TYPES_WRONG = '@arethetypeswrong/cli@0.18.5';
/** Packages are downloaded, and the whole is built once more. */
const LIMIT_MS = 600_000;

interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url: string; readonly directory?: string };
  readonly peerDependencies: { readonly viem: string };
}

const manifestIn = (dir: string): Manifest => JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    // Jest colours what its processes print, whoever reads it.
    const env = { ...process.env, FORCE_COLOR: '0' };
    const { stdout } = await promisify(execFile)(command, args, { cwd, env, maxBuffer: 10_000_000 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** A clone with the commit of this tree and its changes. */
async function clone(): Promise<string> {
  const dir = join(mkdtempSync(join(tmpdir(), 'orgwallet-release-')), 'clone');
  await run('git', ['clone', '--quiet', root, dir], root);
  const patch = join(temporaryDir(), 'changes.patch');
  writeFileSync(patch, await run('git', ['diff', 'HEAD', '--binary'], root));
  if (readFileSync(patch).length > 0) await run('git', ['apply', '--index', patch], dir);
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
  await run('git', [...identity, 'commit', '--quiet', '--allow-empty', '--all', '-m', 'test'], dir);
  for (const [name, value] of [
    ['user.name', 'test'],
    ['user.email', 'test@localhost'],
  ] as const) {
    await run('git', ['config', name, value], dir);
  }
  return dir;
}

describe('a release', () => {
  let dir: string;
  let empty: string;
  beforeAll(async () => {
    dir = await clone();
    await run(
      process.execPath,
      ['tools/release.mjs', '9.8.7', '--repository', 'https://git.example.com/w'],
      dir,
    );
    empty = temporaryDir();
    writeFileSync(join(empty, 'package.json'), '{"private":true}');
    const packed = ['orgwallet-client-9.8.7.tgz', 'orgwallet-9.8.7.tgz'].map((file) =>
      join(dir, 'dist/release', file),
    );
    const { viem } = manifestIn(join(root, 'client')).peerDependencies;
    const asked = [...packed, `viem@${viem.slice(1)}`, ARE_THE_TYPES_WRONG];
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...asked], empty);
  }, LIMIT_MS);

  it('has the packages, the chart, the contract, the rescue page and the checksums of all', async () => {
    expect(readdirSync(join(dir, 'dist/release')).sort()).toEqual([
      'SHA256SUMS',
      'openapi.json',
      'orgwallet-9.8.7.tgz',
      'orgwallet-chart-9.8.7.tgz',
      'orgwallet-client-9.8.7.tgz',
      'rescue.html',
    ]);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], join(dir, 'dist/release'));
  });

  it('is tagged, with its version in the changelog and wherever it is named', async () => {
    expect(await run('git', ['describe', '--exact-match'], dir)).toBe('v9.8.7\n');
    expect(await run('git', ['status', '--porcelain'], dir)).toBe('');
    expect(readFileSync(join(dir, 'CHANGELOG.md'), 'utf8')).toMatch(
      /^## \[Unreleased\]\n\n## \[9\.8\.7\] - \d{4}-\d\d-\d\d\n/m,
    );
    const named = await run('git', ['grep', '--name-only', '--fixed-strings', '9.8.7'], dir);
    expect(named.split('\n').filter(Boolean)).toEqual(
      expect.arrayContaining([
        'Dockerfile',
        'docker-compose.production.yml',
        'ops/helm/Chart.yaml',
        'package.json',
      ]),
    );
    expect(existsSync(join(dir, 'test/histories/9.8.7.json.gz'))).toBe(true);
  });

  it('is refused for a version that is none, is there already, or has changes beside it', async () => {
    const release = (version: string) => run(process.execPath, ['tools/release.mjs', version], dir);
    await expect(release('9.8')).rejects.toThrow('invalid version "9.8"');
    await expect(release('9.8.7')).rejects.toThrow('the tag v9.8.7 exists');
    writeFileSync(join(dir, 'other.txt'), '');
    await expect(release('9.9.0')).rejects.toThrow('the working tree has changes');
  });

  it('installs into an empty project: the commands, and the client with its readme and licence', async () => {
    const service = await run(join(empty, 'node_modules/.bin/orgwallet'), ['--version'], empty);
    expect(service).toMatch(/^9\.8\.7/);
    const client = join(empty, 'node_modules/@orgwallet/client');
    expect(readdirSync(client).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    expect(manifestIn(client).repository).toEqual({
      type: 'git',
      url: 'https://git.example.com/w',
      directory: 'client',
    });
    const shown = "const c = require('@orgwallet/client'); console.log(c.PayloadMismatch.name)";
    expect(await run(process.execPath, ['-e', shown], empty)).toBe('PayloadMismatch\n');
  });

  it('has types that resolve for every way to import an ES module', async () => {
    const packed = join(dir, 'dist/release/orgwallet-client-9.8.7.tgz');
    const report = await run(join(empty, 'node_modules/.bin/attw'), [packed, '--profile', 'esm-only'], empty);
    // It ends with status 0 where no problem is found; CommonJS requires it, see above, and its types say that it is an ES module.
    // One list for each entry.
    for (const entry of ['@orgwallet/client', '@orgwallet/client/rescue']) {
      const [, of = ''] = report.split(`"${entry}"`);
      expect(of).toMatch(/^\s*node16 \(from ESM\): 🟢 \(ESM\)\n\s*bundler: 🟢/);
    }
  });
});
