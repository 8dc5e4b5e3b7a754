import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../../src/projectRoot';

/** What repositories compute with, none of which decides anything. */
const COMPUTED = [
  // Columns as text and back.
  'canonicalJson',
  'toMemberSummary',
  'policyDefinitionSchema',
  'NATIVE_CURRENCY',
  'tokenIn',
  'transferCondition',
  // The table that an id is of.
  'isApiKeyId',
  // What the entries of the feed are made of, and where they begin.
  'GENESIS_HASH',
  'SHOWN_DETAILS',
  // Text as statements compare it.
  'foldName',
  // A list in parts, a statement for each.
  'chunksOf',
  // Numbers in conditions of statements.
  'LEASE_HOLD_MS',
  'BROWSER_SECONDS',
  'SILENT_MS',
  'IDLE_SECONDS',
  'NONCE_ATTEMPTS',
  'NONCE_SECONDS',
];

/** The values that a file takes from the rules; types are gone when it runs. */
function valuesOfRules(text: string): string[] {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const { importClause, moduleSpecifier } = statement;
    if (!moduleSpecifier.text.includes('/domain/') || importClause?.isTypeOnly) return [];
    const bindings = importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) return ['*'];
    return bindings.elements
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ propertyName, name }) => (propertyName ?? name).text);
  });
}

it('src/db and the store of the signer have tables and repositories: they apply no rule', () => {
  const values = ['src/db', 'src/signer/store'].flatMap((folder) => {
    const dir = join(projectRoot(), folder);
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => valuesOfRules(readFileSync(join(dir, file), 'utf8')));
  });
  expect([...new Set(values)].sort()).toEqual([...COMPUTED].sort());
});

it('what is checked, written and audited together is a transaction of a use case, not of a repository', () => {
  const dir = join(projectRoot(), 'src/db');
  const begun = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && readFileSync(join(dir, file), 'utf8').includes('.transaction('),
  );
  // A walk through the log at one moment, and a migration.
  expect(begun.sort()).toEqual(['audit.ts', 'migrate.ts']);
});

it.each([
  [`import { tally } from '../domain/approval';`, ['tally']],
  [`import { type Failure, tally as count } from '../domain/approval';`, ['tally']],
  [`import * as rules from '../domain/approval';`, ['*']],
  [`import type { tally } from '../domain/approval';`, []],
  [`import { queryRows } from './rows';`, []],
])('a rule is found in %s', (text, found) => {
  expect(valuesOfRules(text)).toEqual(found);
});
