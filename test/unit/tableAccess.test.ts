import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/projectRoot';

const HANDLE = String.raw`\b(?:db|tx|trx|knex|handle|savepoint)(?:\(\))?`;
const BUILDERS =
  'select|from|table|into|insert|with\\w*|schema|raw|ref|fn|queryBuilder|batchInsert|transactionProvider';

/** What reaches a table without a function of src/db or of the signer's store. */
const ACCESS = [
  new RegExp(String.raw`${HANDLE}\s*(?:<[^()]*>)?\(\s*['"\`{]`),
  new RegExp(String.raw`${HANDLE}\s*\.\s*(?:${BUILDERS})\b`),
  /\.raw\s*(?:<[^()]*>)?\(/,
  /\bfrom '(?:knex|pg)'/,
];

function accesses(text: string): boolean {
  return ACCESS.some((access) => access.test(text));
}

function sources(): string[] {
  return ['src', 'activities', 'workflows', 'tools'].flatMap((folder) =>
    readdirSync(join(projectRoot(), folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  );
}

describe('access to tables', () => {
  it('is in src/db and the store of the signer only, apart from the administration of the embedded Postgres', () => {
    const elsewhere = sources()
      .filter((file) => !file.startsWith('src/db/') && !file.startsWith('src/signer/store/'))
      .filter((file) => accesses(readFileSync(join(projectRoot(), file), 'utf8')));
    expect(elsewhere).toEqual(['tools/dev/postgres.ts']);
  });

  it.each([
    `await db('members').first('id')`,
    'tx<MemberRow>(`members as m`).where({ id })',
    `db({ m: 'members' })`,
    `return db().raw<Row>('SELECT 1')`,
    `tx\n    .with('appended', appended)\n    .table('audit_heads')`,
    `dependencies.db.select('*').from('members')`,
    `pool.raw('SELECT 1')`,
    `import { Client } from 'pg';`,
  ])('is found in %j', (text) => {
    expect(accesses(text)).toBe(true);
  });

  it.each([
    `await db.transaction((tx) => findMember(tx, organizationId, id))`,
    'await db.destroy()',
    `Buffer.from('members')`,
    `print.line('members', names)`,
    'tx.account',
  ])('is not found in %j', (text) => {
    expect(accesses(text)).toBe(false);
  });
});
