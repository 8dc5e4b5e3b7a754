import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../src/projectRoot';

const root = projectRoot();
const dir = mkdtempSync(join(tmpdir(), 'orgwallet-revision-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The revision that a build records. */
function revision(env: NodeJS.ProcessEnv): string {
  const script = `import { revision } from ${JSON.stringify(join(root, 'tools/dev/bootstrap.mjs'))}; console.log(revision());`;
  const { PATH, HOME } = process.env;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: dir,
    env: { PATH, HOME, ...env },
    encoding: 'utf8',
  }).trim();
}

it('is that of this folder, also inside a hook of another repository', () => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
  git('init', '--quiet');
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'other');
  const other = git('rev-parse', '--short=12', 'HEAD').trim();
  const own = revision({});
  expect(own).toMatch(/^([0-9a-f]{12}(-dirty)?|sources-[0-9a-f]*)$/);
  expect(own).not.toContain(other);
  expect(revision({ GIT_DIR: join(dir, '.git'), GIT_WORK_TREE: dir })).toBe(own);
});

it('is what the builder says', () => {
  expect(revision({ ORGWALLET_REVISION: '1.2.3' })).toBe('1.2.3');
});
