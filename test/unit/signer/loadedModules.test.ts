import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../../../src/projectRoot';

const root = projectRoot();

/** What an auditor has to read at most, in lines. Lower it with the change that loads less. */
const MOST_LINES = 23_700;

/** The modules that a process loads for the signer, by path in the project. */
function loaded(): string[] {
  const main = JSON.stringify(join(root, 'dist/src/signer/main.js'));
  const program = `require(${main}); process.stdout.write(JSON.stringify(Object.keys(require.cache)))`;
  const output = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  return (JSON.parse(output) as string[]).map((path) => relative(root, path));
}

test('the process of the signer loads no API, no worker that it does not trust, and no Express', () => {
  const modules = loaded();
  const own = modules.filter((path) => path.startsWith('dist/'));
  const foreign =
    /^dist\/(activities|workflows|src\/(api|cli|contract|proof|reconciler))\/|^dist\/src\/(config|roles|service)[.]js$/;
  expect(own).toContain('dist/src/signer/transaction/sign.js');
  expect(own.filter((path) => foreign.test(path))).toEqual([]);
  expect(modules.filter((path) => path.startsWith('node_modules/express/'))).toEqual([]);
  const lines = own
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join(root, path.slice('dist/'.length).replace(/js$/, 'ts')), 'utf8'))
    .reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  expect(lines).toBeLessThanOrEqual(MOST_LINES);
});
