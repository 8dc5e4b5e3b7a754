import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';

/** The project's modules in the bundle that workers load, as paths in the project. */
function bundled(): string[] {
  const code = readFileSync(join(projectRoot(), 'dist', 'workflow-bundle.js'), 'utf8');
  const modules = [...code.matchAll(/^\/\*{3}\/ "\.\/([^"]+)"/gm)].map(([, path]) => path ?? '');
  return modules.filter((path) => !path.startsWith('node_modules/'));
}

/** Lines of a module that declare what can change: a variable, or a collection that is not read-only. */
function changeable(source: string): string[] {
  return source
    .split('\n')
    .filter(
      (line) =>
        /^(export )?(let|var) /.test(line) ||
        (/^(export )?const .*= (new |\[|\{\})/.test(line) && !/: (Readonly|readonly)|as const\b/.test(line)),
    );
}

it('has what workflows need, and no schema but those of messages', () => {
  const modules = bundled();
  expect(modules).toContain('workflows/transaction.ts');
  expect(modules).toContain('src/temporal/messages.ts');
  expect(
    modules.filter((path) => /^src\/(contract|db|api)|^src\/domain\/(policy|signing)/.test(path)),
  ).toEqual([]);
});

it('recognizes what can change', () => {
  const lines = [
    'let count = 0;',
    'export var last;',
    'const seen = new Set<string>();',
    'const queue: string[] = [];',
    'const cache: Record<string, string> = {};',
  ];
  const constant = [
    "const DIGITS: ReadonlySet<string> = new Set('0123456789');",
    'const ORDER: readonly string[] = [];',
    "export const ENDED = ['completed'] as const;",
    '  let local = 0;',
  ];
  expect(changeable([...lines, ...constant].join('\n'))).toEqual(lines);
});

it('keeps nothing in modules: all workflows of a worker share them', () => {
  const found = bundled().flatMap((path) =>
    changeable(readFileSync(join(projectRoot(), path), 'utf8')).map((line) => `${path}: ${line}`),
  );
  expect(found).toEqual([]);
});
