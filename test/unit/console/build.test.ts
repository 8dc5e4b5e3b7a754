import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { projectRoot } from '../../../src/projectRoot';

const run = promisify(execFile);
const root = projectRoot();
const DIST = join(root, 'console', 'dist');
/** Programs of their own, on a machine that may be busy. */
const LIMIT_MS = 120_000;

/** What a program of `tools/dev` prints about a folder. */
async function hashOf(dir: string): Promise<string> {
  const tool = JSON.stringify(join(root, 'tools', 'dev', 'buildHash.mjs'));
  const code = `import { hashOfBuild } from ${tool}; process.stdout.write(hashOfBuild(process.argv[1]));`;
  return (await run(process.execPath, ['--input-type=module', '-e', code, dir])).stdout;
}

const hashShownIn = (dir: string) =>
  /name="orgwallet-build" content="([0-9a-f]{64})"/.exec(readFileSync(join(dir, 'index.html'), 'utf8'))?.[1];

describe('the build of the console', () => {
  it('loads at most 220 kB of JavaScript at first, gzipped', () => {
    const scripts = readFileSync(join(DIST, 'index.html'), 'utf8').match(/assets\/[^"]+\.js/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    const bytes = [...new Set(scripts)].map((file) => gzipSync(readFileSync(join(DIST, file))).length);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(220_000);
  });

  it('has nothing of the demo wallets, and neither has the service that production runs', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(files.filter((path: string) => /tools|^dist$/.test(path))).toEqual([]);
    const contents = [DIST, join(root, 'dist', 'src')].flatMap((dir) =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(js|html|css|svg)$/.test(entry.name))
        .map((entry) => [
          join(entry.parentPath, entry.name),
          readFileSync(join(entry.parentPath, entry.name), 'utf8'),
        ]),
    );
    const found = contents.filter(([, text = '']) => /demo-wallet|not for real money|demo\.json/i.test(text));
    expect(contents.length).toBeGreaterThan(100);
    expect(found.map(([file]) => file)).toEqual([]);
  });

  it(
    'shows its hash, which is the same wherever the same sources are built, and another for another file',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'orgwallet-console-'));
      try {
        const [one, other] = [join(dir, 'one'), join(dir, 'other', 'place')];
        const program = join(root, 'tools', 'dev', 'buildConsole.mjs');
        for (const [place, NODE_ENV] of [
          [one, 'production'],
          [other, 'development'],
        ] as const) {
          await run(process.execPath, [program, place], { cwd: root, env: { ...process.env, NODE_ENV } });
        }
        const hash = await hashOf(one);
        expect([hashShownIn(one), hashShownIn(other), await hashOf(other)]).toEqual([hash, hash, hash]);
        const [script = ''] = readFileSync(join(one, 'index.html'), 'utf8').match(/assets\/[^"]+\.js/) ?? [];
        for (const file of ['', '.gz', '.br']) rmSync(join(other, `${script}${file}`));
        appendFileSync(join(other, script), `${readFileSync(join(one, script), 'utf8')} `);
        expect(await hashOf(other)).not.toBe(hash);
      } finally {
        rmSync(dir, { recursive: true });
      }
    },
    LIMIT_MS,
  );
});
