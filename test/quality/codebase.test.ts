import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../src/dev/parts';

const root = projectRoot();

/** Runs a program of the project; answers its exit status and everything it printed. */
function run(
  program: string,
  args: readonly string[],
  cwd = root,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules', '.bin', program),
      [...args],
      { cwd, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ status: Number(error?.code ?? 0), text: stdout + stderr }),
    );
  });
}

/** What the linter says of files that are not there, under the project's own rules. */
async function lint(files: { readonly [path: string]: string }): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'orgwallet-lint-'));
  try {
    cpSync(join(root, 'biome.json'), join(dir, 'biome.json'));
    for (const [path, code] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), code);
    }
    return (
      await run('biome', ['lint', '--colors=off', '--vcs-enabled=false', '--max-diagnostics=none', '.'], dir)
    ).text;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('the code base', () => {
  it('has right types', async () => {
    expect(await run('tsc', ['--noEmit', '-p', '.'])).toEqual({ status: 0, text: '' });
  }, 240_000);

  it('has examples of right types', async () => {
    expect(await run('tsc', ['--noEmit', '-p', 'docs/examples'])).toEqual({ status: 0, text: '' });
  }, 120_000);

  it('is linted and formatted', async () => {
    const { status, text } = await run('biome', ['check', '--colors=off', '.']);
    expect(status === 0 ? '' : text).toBe('');
  }, 120_000);
});

describe('the fence around what must be pure', () => {
  it('refuses what src/domain and workflows must not import, and nothing else', async () => {
    const refused = {
      'src/domain/zod.ts': "import { z } from 'zod';\nexport const schema = z.string();\n",
      'src/domain/viem.ts': "import { keccak256 } from 'viem';\nexport const hash = keccak256;\n",
      'src/domain/files.ts': "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n",
      'src/domain/db.ts': "import { find } from '../db/proposals';\nexport const f = find;\n",
      'workflows/zod.ts': "import { z } from 'zod';\nexport const schema = z.string();\n",
      'workflows/db.ts': "import { find } from '../src/db/proposals';\nexport const f = find;\n",
      'workflows/crypto.ts': "import { createHash } from 'node:crypto';\nexport const hash = createHash;\n",
    };
    const allowed = {
      'src/domain/own.ts': "import { quoted } from './signing';\nexport const q = quoted;\n",
      'workflows/domain.ts': "import { quoted } from '../src/domain/signing';\nexport const q = quoted;\n",
    };
    const text = await lint({ ...refused, ...allowed });
    const named = [...text.matchAll(/^(\S+\.ts):\d+:\d+ lint\/style\/noRestrictedImports/gm)].map(
      (match) => match[1],
    );
    expect(named.sort()).toEqual(Object.keys(refused).sort());
  });
});
