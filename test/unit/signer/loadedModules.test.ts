import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../../../src/projectRoot';

const root = projectRoot();

/** What an auditor has to read at most, in lines, 2,510 of them the list of restricted functions. Lower it with the change that loads less. */
const MOST_LINES = 26_990;

/** The modules that a process loads for the signer, by path in the project. */
function loaded(): string[] {
  const main = JSON.stringify(join(root, 'dist/src/signer/main.js'));
  const program = `require(${main}); process.stdout.write(JSON.stringify(Object.keys(require.cache)))`;
  const output = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  return (JSON.parse(output) as string[]).map((path) => relative(root, path));
}

/** How many lines the source of each loaded module of the project has, by its path. */
function linesOf(modules: readonly string[]): ReadonlyMap<string, number> {
  const sources = modules
    .filter((path) => path.startsWith('dist/') && path.endsWith('.js'))
    .map((path) => path.slice('dist/'.length).replace(/js$/, 'ts'));
  return new Map(
    sources.map((path) => [path, readFileSync(join(root, path), 'utf8').split('\n').length - 1]),
  );
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, one) => all + one, 0);

const modules = loaded();

test('the process of the signer loads no API, no worker that it does not trust, and no Express', () => {
  const foreign =
    /^dist\/(activities|workflows|src\/(api|cli|contract|proof|reconciler))\/|^dist\/src\/(config|roles|service)[.]js$/;
  expect(modules).toContain('dist/src/signer/transaction/sign.js');
  expect(modules.filter((path) => foreign.test(path))).toEqual([]);
  expect(modules.filter((path) => path.startsWith('node_modules/express/'))).toEqual([]);
  expect(sum(linesOf(modules).values())).toBeLessThanOrEqual(MOST_LINES);
});

test('what the process of the signer loads outside of its folder is listed in foreignModules.json: a module more is a decision', () => {
  const foreign = [...linesOf(modules).keys()].filter((path) => !path.startsWith('src/signer/')).sort();
  expect(foreign).toEqual(JSON.parse(readFileSync(join(__dirname, 'foreignModules.json'), 'utf8')));
});

test('ARCHITECTURE.md says how many files and lines of each folder that are', () => {
  const table = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(
    /^\| ((?:`[\w/]+`(?:, )?)+) +\| (\d+) +\| ([\d,]+) +\|/gm,
  );
  const lines = [...linesOf(modules)];
  const said = [...table].map(([, folders = '', files, all = '']) => {
    const named = [...folders.matchAll(/`([\w/]+)`/g)].map(([, folder]) => folder);
    return { named, files: Number(files), lines: Number(all.replace(',', '')) };
  });
  expect(new Set(lines.map(([path]) => dirname(path)))).toEqual(new Set(said.flatMap(({ named }) => named)));
  for (const { named, ...figures } of said) {
    const found = lines.filter(([path]) => named.includes(dirname(path)));
    const exact = { named, files: found.length, lines: sum(found.map(([, count]) => count)) };
    // Rounded, so that not every change has to correct it.
    const near = Math.max(exact.lines / 20, 50);
    const isTrue =
      Math.abs(exact.files - figures.files) <= 1 && Math.abs(exact.lines - figures.lines) <= near;
    expect(isTrue ? exact : { named, ...figures }).toEqual(exact);
  }
});
