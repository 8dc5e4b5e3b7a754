import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/projectRoot';

const TESTS = join(projectRoot(), 'test');

const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !/^(deep|load)\//.test(file))
  .map((file) => [file, readFileSync(join(TESTS, file), 'utf8')] as const);

test('a file with cases for the deep tests begins with its tag: else they would run nowhere', () => {
  const deep = files.filter(([, text]) => /from '[./]*support\/suite'/.test(text));
  expect(deep.length).toBeGreaterThan(30);
  expect(deep.filter(([, text]) => !/^\/\*\* @(deep|load) \*\//.test(text)).map(([file]) => file)).toEqual(
    [],
  );
});
