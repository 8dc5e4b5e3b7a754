import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';

/** The modules of the bundle that workers load, as paths in the project. */
function bundled(): string[] {
  const code = readFileSync(join(projectRoot(), 'dist', 'workflow-bundle.js'), 'utf8');
  return [...code.matchAll(/^\/\*{3}\/ "\.\/([^"]+)"/gm)].map(([, path]) => path ?? '');
}

it('has what workflows need, and no schema but those of messages: each workflow evaluates it anew', () => {
  const modules = bundled();
  expect(modules).toContain('workflows/transaction.ts');
  expect(modules).toContain('src/temporal/messages.ts');
  expect(
    modules.filter((path) => /^src\/(contract|db|api)|^src\/domain\/(policy|signing)/.test(path)),
  ).toEqual([]);
});
