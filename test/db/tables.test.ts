import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { createDatabase, type Db } from '../../src/db/database';
import { queryRows } from '../../src/db/rows';
import { projectRoot } from '../../src/projectRoot';
import { createTestDatabase } from '../support/stack';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase(database.url);
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** `type` is a Postgres type, `written` how an insert treats a column that has a default or is generated. */
interface Column {
  readonly type: string;
  readonly nullable: boolean;
  readonly written: 'given' | 'default' | 'generated';
}
type Columns = { readonly [table: string]: { readonly [column: string]: Column } };

/** The Postgres types that pg parses as a type of TypeScript; any other name is one for text. */
const POSTGRES_TYPES: { readonly [name: string]: string } = {
  bigint: 'int8',
  boolean: 'bool',
  Buffer: 'bytea',
  Date: 'timestamptz',
  Json: 'jsonb',
  number: 'int4',
  Numeric: 'numeric',
  'readonly string[]': '_text',
  Terms: 'tsvector',
  Time: 'timestamptz',
};

/** What src/db/tables.ts declares. */
function declared(): Columns {
  const file = join(projectRoot(), 'src', 'db', 'tables.ts');
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const interfaces = new Map<string, ts.InterfaceDeclaration>();
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const members = (name: string | undefined): [string, ts.TypeNode][] =>
    (interfaces.get(name ?? '')?.members ?? ts.factory.createNodeArray())
      .filter(ts.isPropertySignature)
      .flatMap(({ name: member, type }) => (type ? [[member.getText(), type]] : []));
  const typeOf = (type: ts.TypeNode, nullable: boolean): string => {
    const text = (ts.isUnionTypeNode(type) && nullable ? type.types[0] : type)?.getText() ?? '';
    return POSTGRES_TYPES[text.replace(/<.*/s, '')] ?? 'text';
  };
  return Object.fromEntries(
    members('Tables').map(([table, type]) => {
      const [row, defaults = '', generated = ''] = ts.isTypeReferenceNode(type)
        ? (type.typeArguments ?? []).map((argument) => argument.getText())
        : [];
      const columns = (row ?? '')
        .split(' & ')
        .flatMap(members)
        .map(([name, of]): [string, Column] => {
          const nullable = ts.isUnionTypeNode(of) && of.types.some((one) => one.getText() === 'null');
          const isIn = (names: string) => names.includes(`'${name}'`);
          const written = isIn(generated) ? 'generated' : isIn(defaults) ? 'default' : 'given';
          return [name, { type: typeOf(of, nullable), nullable, written }];
        });
      return [table, Object.fromEntries(columns)];
    }),
  );
}

/** What the migrations have made. Identifiers and numbers of other kinds are read as the same types. */
async function made(): Promise<Columns> {
  const rows = await queryRows<Column & { table: string; column: string }>(
    db,
    `SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS nullable,
       CASE udt_name WHEN 'uuid' THEN 'text' WHEN 'float8' THEN 'int4' ELSE udt_name END AS type,
       CASE WHEN is_generated = 'ALWAYS' OR identity_generation = 'ALWAYS' THEN 'generated'
            WHEN column_default IS NOT NULL THEN 'default' ELSE 'given' END AS written
     FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const tables: { [table: string]: { [column: string]: Column } } = {};
  for (const { table, column, ...is } of rows) tables[table] = { ...tables[table], [column]: is };
  return tables;
}

it('have the columns that their row types declare', async () => {
  expect(declared()).toEqual(await made());
});

it('are read as their row types say', async () => {
  const [row] = await queryRows<object>(
    db,
    `SELECT 1::int8 AS bigint, true AS boolean, ''::bytea AS buffer, now() AS date, '{"a":[1]}'::jsonb AS json,
       1::int4 AS number, 1::numeric(78, 0) AS numeric, ARRAY['a'] AS texts, 'infinity'::timestamptz AS time`,
  );
  expect(row).toEqual({
    bigint: 1n,
    boolean: true,
    buffer: Buffer.alloc(0),
    date: expect.any(Date),
    json: { a: [1] },
    number: 1,
    numeric: '1',
    texts: ['a'],
    time: Number.POSITIVE_INFINITY,
  });
});
