import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../src/projectRoot';

const root = projectRoot();
const FOLDERS = ['src', 'activities', 'workflows', 'client/src', 'console/src', 'tools', 'test'];
/** Made by the build, or loaded by their path. */
const ENTRIES = [
  'client/src/openapi.ts',
  'workflows/tracing.ts',
  'tools/dev/main.ts',
  'tools/dev/bootstrap.mjs',
];

const files = new Map(
  FOLDERS.flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter(({ name }) => /\.(tsx?|js|mjs)$/.test(name) && !name.endsWith('.d.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/\/(node_modules|dist|generated)\//.test(file))
    .map((file) => {
      const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
      return [
        file,
        ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, kind),
      ];
    }),
);

/** What a file exports under its names. */
function exportsOf(source: ts.SourceFile): { name: string; statement: ts.Statement }[] {
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const has = (kind: ts.SyntaxKind) => modifiers.some((modifier) => modifier.kind === kind);
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) return [];
    const names = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name.getText())
      : [(statement as ts.DeclarationStatement).name?.getText() ?? ''];
    return names.map((name) => ({ name, statement }));
  });
}

/** The file of this project that a path leads to. */
function fileOf(from: string, path: string): string | undefined {
  const base = join(dirname(from), path.replace(/\.js$/, ''));
  return ['.ts', '.tsx', '/index.ts', '.js', '']
    .map((end) => `${base}${end}`)
    .find((file) => path.startsWith('.') && files.has(file));
}

/** The names that an import takes; `*`: all of them. */
function namesIn(node: ts.Node): readonly string[] {
  if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return ['*'];
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (!bindings || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return ['*'];
  return bindings.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
}

/** The path that a node imports from. */
function importedPath(node: ts.Node): string | undefined {
  const literal =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
        ? node.argument.literal
        : ts.isCallExpression(node)
          ? node.arguments[0]
          : undefined;
  return literal && ts.isStringLiteral(literal) ? literal.text : undefined;
}

/** `file name` for everything that a file takes from another one. */
function usedElsewhere(): Set<string> {
  const used = new Set<string>();
  for (const [file, source] of files) {
    const visit = (node: ts.Node): void => {
      const path = importedPath(node);
      const target = path === undefined ? undefined : fileOf(file, path);
      if (target) for (const name of namesIn(node)) used.add(`${target} ${name}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return used;
}

const isFunction = (statement: ts.Statement) =>
  ts.isFunctionDeclaration(statement) ||
  (ts.isVariableStatement(statement) &&
    statement.declarationList.declarations.some(
      ({ initializer }) =>
        initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
    ));

it('every function that a file exports says what it does', () => {
  const silent = [...files].flatMap(([file, source]) => {
    if (file.endsWith('.test.ts')) return [];
    const functions = exportsOf(source).filter(({ statement }) => isFunction(statement));
    const documented = new Set(
      functions
        .filter(({ statement }) => ts.getJSDocCommentsAndTags(statement).length > 0)
        .map(({ name }) => name),
    );
    return functions
      .filter(({ name }) => !documented.has(name))
      .map(({ name }) => `${relative(root, file)}: ${name}`);
  });
  expect(silent).toEqual([]);
});

it('nothing is exported that only its own file uses', () => {
  const used = usedElsewhere();
  const own = [...files].flatMap(([file, source]) => {
    const path = relative(root, file);
    if (ENTRIES.includes(path) || used.has(`${file} *`)) return [];
    return exportsOf(source)
      .filter(({ name }) => !used.has(`${file} ${name}`))
      .map(({ name }) => `${path}: ${name}`);
  });
  expect(own).toEqual([]);
});
