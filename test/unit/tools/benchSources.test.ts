import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../../src/projectRoot';

const root = projectRoot();

/** The files of tests that a file imports. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => `${resolve(file, '..', fileName)}.ts`)
    .filter((path) => path.startsWith(join(root, 'test/')));
}

test('the bench is built with every file that it imports', () => {
  const program = `console.log(JSON.stringify((await import('./tools/dev/bootstrap.mjs')).BENCH_SOURCES))`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  const built: readonly string[] = JSON.parse(printed.toString());
  const bench = readdirSync(join(root, 'test/bench'), { recursive: true, encoding: 'utf8' });
  const support = built.filter((source) => source.endsWith('.ts'));
  const files = [
    ...bench.filter((name) => name.endsWith('.ts')).map((name) => `test/bench/${name}`),
    ...support,
  ];
  expect(files.length).toBeGreaterThan(support.length);
  const needed = files.flatMap((file) => importsOf(join(root, file)).map((path) => relative(root, path)));
  const lacking = needed.filter(
    (path) => !built.some((source) => path === source || path.startsWith(`${source}/`)),
  );
  expect(lacking).toEqual([]);
});
