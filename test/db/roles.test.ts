import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { insertApproval } from '../../src/db/approvals';
import { appendAudit, verifyAudit } from '../../src/db/audit';
import { createDatabase, type Db, type Tx } from '../../src/db/database';
import { insertEvidence } from '../../src/db/evidence';
import { newId } from '../../src/db/ids';
import { type LoginRole, readLoginRights, refuseLogin } from '../../src/db/logins';
import { requireRow } from '../../src/db/rows';
import { OPERATOR, SYSTEM } from '../../src/domain/actor';
import { projectRoot } from '../../src/projectRoot';
import { spawned } from '../cli/command';
import { anId } from '../support/builders';
import {
  databaseSettings,
  makeOrganization,
  serviceSettings,
  type TestOrganization,
} from '../support/service';
import { createTestDatabase, sharedStack } from '../support/stack';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: Db;
let service: Db;
let signer: Db;
let org: TestOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createDatabase(database.url);
  service = createDatabase(database.serviceUrl, { poolMax: 2 });
  signer = createDatabase(database.signerUrl, { poolMax: 2 });
  org = await makeOrganization(owner);
  await service.transaction((tx) => append(tx, 8));
  const ref = { organizationId: org.id, id: anId('prop') };
  await service.transaction(async (tx) => {
    const approval = {
      ...ref,
      summary: '',
      mentions: [],
      expiresAt: new Date(),
      createdBy: null,
      position: 0n,
    };
    await insertApproval(tx, 'proposal', approval);
    const electorate = { admins: [] };
    await insertEvidence(tx, ref, {
      resolution: 'approved',
      payload: '{}',
      votes: [],
      threshold: 2,
      electorate,
    });
  });
});
afterAll(async () => {
  await Promise.all([owner, service, signer].map((db) => db?.destroy()));
  await database?.drop();
});

function append(tx: Tx, count: number) {
  return appendAudit(
    tx,
    org.id,
    Array.from({ length: count }, (_, index) => ({
      action: 'account.updated',
      actor: index % 2 === 0 ? SYSTEM : OPERATOR,
      resourceType: 'account',
      resourceId: newId('acc'),
      details: { before: { name: 'Ä' }, after: { name: `"${index}"`, of: [1, 2.5, null, true] } },
    })),
  );
}

const ROLES = ['orgwallet_service', 'orgwallet_signer'] as const;
const poolOf = (role: (typeof ROLES)[number]) => (role === 'orgwallet_service' ? service : signer);
const INSUFFICIENT_PRIVILEGE = '42501';
const denied = expect.objectContaining({ code: INSUFFICIENT_PRIVILEGE });

async function expectDenied(db: Db, statement: string) {
  await expect(db.raw(statement)).rejects.toEqual(denied);
}

describe.each(ROLES)('the login %s', (role) => {
  it('is that of every connection of its pool', async () => {
    const { rows } = await poolOf(role).raw('SELECT session_user AS login, current_user AS name');
    expect(rows).toEqual([{ login: role, name: role }]);
  });

  it('owns nothing, is not a superuser, and cannot create anything', async () => {
    const { rows: owned } = await owner.raw(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = ?
       UNION ALL SELECT p.proname FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner WHERE r.rolname = ?`,
      [role, role],
    );
    expect(owned).toEqual([]);
    const { rows: rights } = await owner.raw(
      'SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname = ?',
      [role],
    );
    expect(rights).toEqual([
      {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolbypassrls: false,
        rolcanlogin: true,
      },
    ]);
    for (const statement of [
      'CREATE TABLE mine (id text)',
      'CREATE SCHEMA mine',
      'CREATE ROLE another',
      'CREATE DATABASE mine',
      'CREATE EXTENSION btree_gin',
      'CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
      'CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER mine BEFORE INSERT ON votes EXECUTE FUNCTION refuse_change()',
      "COPY (SELECT 1) TO PROGRAM 'true'",
      "SELECT pg_read_file('postgresql.conf')",
      'SET SESSION AUTHORIZATION orgwallet_owner',
    ]) {
      await expectDenied(poolOf(role), statement);
    }
  });

  it('can become no other role, and is still itself after RESET ROLE', async () => {
    const others: string[] = await owner('pg_roles').whereNot({ rolname: role }).pluck('rolname');
    expect(others).toEqual(expect.arrayContaining(['postgres', 'orgwallet_owner']));
    for (const other of others) await expectDenied(poolOf(role), `SET ROLE "${other}"`);
    const foreign = role === 'orgwallet_service' ? 'chain_attempts' : 'votes';
    await poolOf(role).transaction(async (tx) => {
      await tx.raw('RESET ROLE');
      await tx.raw('RESET SESSION AUTHORIZATION');
      expect((await tx.raw('SELECT current_user AS name')).rows).toEqual([{ name: role }]);
      await expect(tx.raw(`INSERT INTO ${foreign} DEFAULT VALUES`)).rejects.toEqual(denied);
    });
    const tables: string[] = await owner('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
    for (const table of tables) {
      await expectDenied(poolOf(role), `ALTER TABLE ${table} OWNER TO ${role}`);
      await expectDenied(poolOf(role), `ALTER TABLE ${table} DISABLE TRIGGER USER`);
      await expectDenied(poolOf(role), `DROP TABLE ${table} CASCADE`);
    }
  });

  it('may truncate no table, and reference or trigger none', async () => {
    const { rows } = await owner.raw(
      `SELECT table_name, privilege_type FROM information_schema.role_table_grants
       WHERE grantee = ? AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')`,
      [role],
    );
    expect(rows).toEqual([]);
    await expectDenied(poolOf(role), 'TRUNCATE proposals CASCADE');
  });

  it.each([
    ['audit_log', 'id'],
    ['evidence', 'id'],
    ['seals', 'hash'],
  ] as const)('cannot change what is in %s', async (table, by) => {
    const before = await owner(table).orderBy(by);
    expect(before.length).toBeGreaterThan(0);
    const db = poolOf(role);
    for (const statement of [
      `UPDATE ${table} SET organization_id = organization_id`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table}`,
      `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
      `DROP TRIGGER ${table}_append_only ON ${table}`,
      `DROP TABLE ${table}`,
      'SET session_replication_role = replica',
    ]) {
      await expectDenied(db, statement);
    }
    expect(await owner(table).orderBy(by)).toEqual(before);
  });
});

describe('the owner of the tables', () => {
  it.each(['audit_log', 'evidence', 'seals'])(
    'is stopped by a rule from changing %s by mistake',
    async (table) => {
      for (const statement of [
        `UPDATE ${table} SET organization_id = organization_id`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
      ]) {
        await expect(owner.raw(statement)).rejects.toThrow(`${table} is append-only`);
      }
    },
  );

  it('cannot delete a sealed state by mistake', async () => {
    for (const statement of ['DELETE FROM sealed_states', 'TRUNCATE sealed_states']) {
      await expect(owner.raw(statement)).rejects.toThrow('sealed_states is append-only');
    }
  });
});

describe('a login that a process would start with', () => {
  const temporary: string[] = [];
  afterAll(() => asAdmin(temporary.map((name) => `DROP ROLE ${name}`)));

  async function asAdmin(statements: readonly string[]): Promise<void> {
    const admin = createDatabase(sharedStack().databaseAdminUrl, { poolMax: 1 });
    try {
      for (const statement of statements) await admin.raw(statement);
    } finally {
      await admin.destroy();
    }
  }

  /** A new login to the test's database; `more` names it `me`. */
  async function aLogin(...more: string[]): Promise<string> {
    const name = `test_${randomBytes(6).toString('hex')}`;
    temporary.push(name);
    await asAdmin([
      `CREATE ROLE ${name} LOGIN PASSWORD 'secret'`,
      ...more.map((text) => text.replaceAll('me', name)),
    ]);
    return Object.assign(new URL(database.serviceUrl), { username: name, password: 'secret' }).toString();
  }

  async function refusalOf(url: string, role: LoginRole = 'orgwallet_service') {
    const db = createDatabase(url, { poolMax: 1 });
    try {
      return refuseLogin(await readLoginRights(db, role), role);
    } finally {
      await db.destroy();
    }
  }

  it('has the grants of its role, itself or by inheritance alone', async () => {
    expect(await refusalOf(database.serviceUrl)).toBeUndefined();
    expect(await refusalOf(database.signerUrl, 'orgwallet_signer')).toBeUndefined();
    const heir = await aLogin('GRANT orgwallet_service TO me WITH INHERIT TRUE, SET FALSE');
    expect(await refusalOf(heir)).toBeUndefined();
  });

  it('must not be the other one', async () => {
    for (const [url, role] of [
      [database.signerUrl, 'orgwallet_service'],
      [database.serviceUrl, 'orgwallet_signer'],
    ] as const) {
      expect(await refusalOf(url, role)).toEqual({
        found: expect.stringContaining(`has no rights of ${role}`),
        todo: `use the login ${role} (docs/production.md)`,
      });
    }
  });

  it('must own nothing of the database', async () => {
    expect(await refusalOf(database.url)).toMatchObject({
      found: expect.stringMatching(/^login "orgwallet_owner" owns table \w+$/),
    });
  });

  it.each([
    ['the rights of a superuser', ['ALTER ROLE me SUPERUSER'], /has SUPERUSER$/],
    ['the right to create roles', ['ALTER ROLE me CREATEROLE'], /has CREATEROLE$/],
    ['the right to bypass row security', ['ALTER ROLE me BYPASSRLS REPLICATION'], /BYPASSRLS, REPLICATION$/],
    [
      'a role that it can become',
      ['GRANT orgwallet_service TO me WITH SET TRUE'],
      /can act as orgwallet_service$/,
    ],
    [
      'the rights of the owner',
      ['GRANT orgwallet_owner TO me WITH INHERIT TRUE, SET FALSE'],
      /can act as orgwallet_owner/,
    ],
    [
      'the rights of both',
      ['GRANT orgwallet_service, orgwallet_signer TO me WITH INHERIT TRUE, SET FALSE'],
      /can act as orgwallet_signer$/,
    ],
    [
      'a role that it can give itself',
      ['GRANT orgwallet_owner TO me WITH ADMIN TRUE, INHERIT FALSE, SET FALSE'],
      /can act as orgwallet_owner/,
    ],
    [
      'a role that can read everything',
      ['GRANT pg_read_server_files TO me WITH INHERIT TRUE, SET FALSE'],
      /can act as pg_read_server_files$/,
    ],
  ])('must not have %s', async (_, statements, found) => {
    const url = await aLogin('GRANT orgwallet_service TO me WITH INHERIT TRUE, SET FALSE', ...statements);
    expect(await refusalOf(url)).toEqual({
      found: expect.stringMatching(found),
      todo: expect.stringContaining('use the login orgwallet_service (docs/production.md)'),
    });
  });

  it.each([
    ['DATABASE_URL', 'api,worker,chain'],
    ['SIGNER_DATABASE_URL', 'signer'],
  ])('stops the start when %s is the owner', async (setting, roles) => {
    const env = await serviceSettings({ database: databaseSettings(database) });
    const { status, stdout } = await spawned(
      { ...env, ORGWALLET_ROLES: roles, [setting]: database.url },
      process.execPath,
      join(projectRoot(), 'dist', 'src', 'main.js'),
    );
    expect(JSON.parse(stdout)).toMatchObject({
      level: 'fatal',
      role: roles,
      setting,
      msg: expect.stringMatching(
        `^cannot start: ${setting}: login "orgwallet_owner" owns table \\w+: use the login orgwallet_`,
      ),
    });
    expect(status).toBe(1);
  });
});

describe('data that one role may write', () => {
  it('seals, keys, attempts, envelopes and relayers: the signer', async () => {
    for (const table of [
      'seals',
      'sealed_states',
      'signing_keys',
      'chain_attempts',
      'chain_signatures',
      'relayer_reservations',
      'chain_envelopes',
      'relayers',
      'authorizations',
    ]) {
      await expectDenied(service, `INSERT INTO ${table} DEFAULT VALUES`);
      await expectDenied(service, `DELETE FROM ${table}`);
      await expectDenied(signer, `DELETE FROM ${table}`);
    }
    for (const [table, column] of [
      ['seals', 'body'],
      ['sealed_states', 'state'],
      ['sealed_states', 'sequence'],
      ['signing_keys', 'address'],
      ['chain_attempts', 'data'],
      ['chain_envelopes', 'raw_transaction'],
      ['chain_envelopes', 'relayer_nonce'],
      ['relayers', 'address'],
      ['authorizations', 'outcome'],
      ['authorizations', 'amount'],
    ]) {
      await expectDenied(service, `UPDATE ${table} SET ${column} = ${column}`);
    }
    for (const [table, column] of [
      ['seals', 'body'],
      ['sealed_states', 'organization_id'],
      ['signing_keys', 'address'],
      ['chain_attempts', 'data'],
      ['chain_signatures', 'signature'],
      ['relayer_reservations', 'relayer_nonce'],
      ['chain_envelopes', 'raw_transaction'],
      ['authorizations', 'amount'],
      ['authorizations', 'authorized_at'],
    ]) {
      await expectDenied(signer, `UPDATE ${table} SET ${column} = ${column}`);
    }
  });

  it('the outcome of an envelope, and when it was sent: the service', async () => {
    for (const column of ['sent_at', 'outcome', 'decided_at']) {
      await service.raw(`UPDATE chain_envelopes SET ${column} = ${column}`);
      await expectDenied(signer, `UPDATE chain_envelopes SET ${column} = ${column}`);
    }
  });

  it('the outcome of an attempt, and nothing else of it: the service', async () => {
    const outcome = [
      'outcome',
      'outcome_hash',
      'block_number',
      'block_hash',
      'block_at',
      'confirmations',
      'decided_at',
    ];
    const columns: string[] = await owner('information_schema.columns')
      .where({ table_schema: 'public', table_name: 'chain_attempts', is_identity: 'NO' })
      .pluck('column_name');
    expect(columns).toEqual(expect.arrayContaining([...outcome, 'safe_nonce', 'value']));
    for (const column of columns) {
      const statement = `UPDATE chain_attempts SET ${column} = ${column} WHERE false`;
      if (outcome.includes(column)) await service.raw(statement);
      else await expectDenied(service, statement);
      await expectDenied(signer, statement);
    }
  });

  it('proposals, votes, members and all inputs of the signer: the service', async () => {
    const { rows } = await owner.raw(
      `SELECT table_name, privilege_type FROM information_schema.role_table_grants
       WHERE grantee = 'orgwallet_signer' AND privilege_type <> 'SELECT' ORDER BY 1, 2`,
    );
    expect(rows.map((row: { table_name: string; privilege_type: string }) => Object.values(row))).toEqual([
      ['account_rescues', 'INSERT'],
      ['account_rescues', 'UPDATE'],
      ['admins_safes', 'INSERT'],
      ['admins_safes', 'UPDATE'],
      ['authorizations', 'INSERT'],
      ['chain_attempts', 'INSERT'],
      ['chain_envelopes', 'INSERT'],
      ['chain_signatures', 'INSERT'],
      ['freezes', 'INSERT'],
      ['relayer_reservations', 'INSERT'],
      ['relayers', 'INSERT'],
      ['relayers', 'UPDATE'],
      ['sealed_states', 'INSERT'],
      ['seals', 'INSERT'],
      ['signing_keys', 'INSERT'],
      ['unknown_executions', 'INSERT'],
    ]);
    for (const table of [
      'approvals',
      'votes',
      'received_messages',
      'claims',
      'proposals',
      'deployments',
      'accounts',
      'members',
      'groups',
      'policies',
      'policy_usage',
      'transactions',
      'evidence',
      'genesis',
      'genesis_signatures',
    ]) {
      await expectDenied(signer, `INSERT INTO ${table} DEFAULT VALUES`);
      await expectDenied(signer, `DELETE FROM ${table}`);
    }
    await expectDenied(signer, 'UPDATE approvals SET closed_at = NULL');
    await expectDenied(signer, 'UPDATE proposals SET effective = false');
    await expectDenied(signer, 'UPDATE transactions SET cancelling = false');
    await expectDenied(signer, "UPDATE policy_usage SET status = 'released'");
    await expectDenied(signer, 'UPDATE admin_sets SET threshold = 1');
    await expectDenied(signer, 'UPDATE installation SET id = gen_random_uuid()');
  });

  it.each<[string, string[]]>([
    ['organizations', ['projected_sequence']],
    ['admin_sets', ['threshold', 'on_chain']],
    ['accounts', ['name', 'position', 'updated_at']],
    ['account_networks', []],
    [
      'approvals',
      [
        'updated_at',
        'position',
        'version',
        'execution_status',
        'execution_attempt',
        'decision',
        'decided_by',
        'executed_with',
        'waiting_for',
        'failure',
        'notes',
        'result',
        'expired_at',
        'closed_at',
        'frozen',
      ],
    ],
    ['proposals', ['applied_at', 'effective']],
    ['deployments', ['status', 'transaction_hash', 'failure', 'waiting_for', 'updated_at']],
    // Of the last two, lists and searches find it; what they show is read from the record.
    [
      'transactions',
      ['awaits_relayer_wei', 'cancelling', 'reopenings', 'position', 'terms', 'metadata', 'tags'],
    ],
    ['policy_usage', ['status', 'block_at', 'decided_at']],
    ['api_keys', ['revoked_at', 'rotated_to', 'last_used_at']],
    ['audit_heads', ['position', 'hash', 'created_at']],
    ['session_nonces', ['attempts']],
    ['known_browsers', ['last_used_at']],
  ])('of %s what changes, and not what is signed: the service', async (table, changing) => {
    const columns: string[] = await owner('information_schema.columns')
      .where({ table_schema: 'public', table_name: table, is_identity: 'NO', is_generated: 'NEVER' })
      .pluck('column_name');
    expect(columns).toEqual(expect.arrayContaining(changing));
    for (const column of columns) {
      const statement = `UPDATE ${table} SET ${column} = ${column} WHERE false`;
      if (changing.includes(column)) await service.raw(statement);
      else await expectDenied(service, statement);
      await expectDenied(signer, statement);
    }
  });

  it('neither: recorded votes, received messages, the installation', async () => {
    for (const statement of [
      'UPDATE votes SET signature = signature',
      'DELETE FROM votes',
      'UPDATE received_messages SET kind = kind',
      'DELETE FROM received_messages',
      'UPDATE evidence SET threshold = threshold',
      'DELETE FROM evidence',
      'UPDATE claims SET claim = claim',
      'DELETE FROM approvals',
      'DELETE FROM proposals',
      'DELETE FROM deployments',
      'DELETE FROM transactions',
      'DELETE FROM policies',
      'UPDATE policy_usage SET amount = amount',
      'DELETE FROM policy_usage',
      'DELETE FROM accounts',
      'DELETE FROM members',
      'DELETE FROM audit_heads',
      'UPDATE genesis SET state = state',
      'DELETE FROM genesis',
      'UPDATE genesis_signatures SET signature = signature',
      'DELETE FROM genesis_signatures',
      'UPDATE installation SET id = gen_random_uuid()',
      'DELETE FROM schema_migrations',
    ]) {
      await expectDenied(service, statement);
    }
  });
});

describe('data that the signer cannot read', () => {
  it.each([
    'received_messages',
    'claims',
    'audit_heads',
    'audit_log',
    'api_keys',
    'api_key_members',
    'idempotency_requests',
    'rate_limit_buckets',
    'registration_challenges',
    'sessions',
    'session_nonces',
    'known_browsers',
  ])('%s', async (table) => {
    await expectDenied(signer, `SELECT 1 FROM ${table}`);
    await expectDenied(signer, `COPY ${table} TO STDOUT`);
  });

  it('the secret of cursors, but the id of the installation', async () => {
    await expectDenied(signer, 'SELECT cursor_secret FROM installation');
    await expectDenied(signer, 'SELECT * FROM installation');
    expect((await signer.raw('SELECT id FROM installation')).rows).toHaveLength(1);
  });
});

describe('an audit log that was tampered with', () => {
  /** Lets the owner do, past the rule and in a transaction that is rolled back, what must be found. */
  async function tampered(change: (tx: Tx) => Promise<unknown>) {
    class Undo extends Error {}
    let proof: Awaited<ReturnType<typeof verifyAudit>> | undefined;
    await owner
      .transaction(async (tx) => {
        await tx.raw('ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only');
        await change(tx);
        proof = await verifyAudit(tx, org.id);
        throw new Undo();
      })
      .catch((error) => {
        if (!(error instanceof Undo)) throw error;
      });
    return proof;
  }
  const at = (tx: Tx, position: number | bigint) =>
    tx('audit_log').where({ organization_id: org.id, position: BigInt(position) });
  const idAt = async (position: number) =>
    requireRow(
      await owner('audit_log')
        .where({ organization_id: org.id, position: BigInt(position) })
        .first('id'),
    ).id;

  it('is unbroken before', async () => {
    expect(await verifyAudit(owner, org.id)).toMatchObject({ ok: true, entries: await lastPosition() });
  });

  async function lastPosition(): Promise<bigint> {
    return requireRow(await owner('audit_heads').where({ organization_id: org.id }).first()).position;
  }

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['an action', (tx) => at(tx, 5).update({ action: 'account.created' })],
    ['an actor', (tx) => at(tx, 5).update({ actor: JSON.stringify({ ...OPERATOR, name: 'Eve' }) })],
    ['a resource', (tx) => at(tx, 5).update({ resource_id: 'acc_2' })],
    ['a kind of resource', (tx) => at(tx, 5).update({ resource_type: 'group' })],
    [
      'a detail',
      (tx) => at(tx, 5).update({ details: tx.raw(`jsonb_set(details, '{after}', '{"name":"x"}')`) }),
    ],
    ['a detail that is added', (tx) => at(tx, 5).update({ details: tx.raw(`details || '{"more":1}'`) })],
    ['a time', (tx) => at(tx, 5).update({ created_at: tx.raw(`created_at + interval '1 millisecond'`) })],
    ['an id', (tx) => at(tx, 5).update({ id: 'log_other' })],
    ['a hash', (tx) => at(tx, 5).update({ hash: 'f'.repeat(64) })],
    ['a link to the entry before', (tx) => at(tx, 5).update({ previous_hash: '0'.repeat(64) })],
  ])('names the entry of which %s was changed', async (_what, change) => {
    const proof = await tampered(change);
    expect(proof).toMatchObject({ ok: false, position: 5n });
    expect(proof && 'id' in proof && proof.id).toMatch(/^log_/);
  });

  it('names the entry after one that was removed, first, in the middle', async () => {
    expect(await tampered((tx) => at(tx, 1).delete())).toMatchObject({
      ok: false,
      position: 2n,
      id: await idAt(2),
    });
    expect(await tampered((tx) => at(tx, 6).delete())).toMatchObject({
      ok: false,
      position: 7n,
      id: await idAt(7),
      reason: expect.stringContaining('entry 6 is missing'),
    });
  });

  it('reports missing entries at the end', async () => {
    const last = await lastPosition();
    expect(await tampered((tx) => at(tx, last).delete())).toMatchObject({
      ok: false,
      position: last,
      id: null,
      reason: expect.stringContaining('at the end are missing'),
    });
  });

  it('names the first of two that changed places', async () => {
    const proof = await tampered(async (tx) => {
      await at(tx, 5).update({ position: 1_000 });
      await at(tx, 7).update({ position: 5 });
      await at(tx, 1_000).update({ position: 7 });
    });
    expect(proof).toMatchObject({ ok: false, position: 5n, id: await idAt(7) });
  });

  it('is found when entries were removed and the rest renumbered', async () => {
    const proof = await tampered(async (tx) => {
      await at(tx, 6).delete();
      for (let position = 7; position <= Number(await lastPosition()); position += 1) {
        await at(tx, position).update({ position: position - 1 });
      }
      await tx('audit_heads').where({ organization_id: org.id }).decrement('position', 1);
    });
    expect(proof).toMatchObject({ ok: false, position: 6n, id: await idAt(7) });
  });

  it('is found when an entry was forged', async () => {
    const proof = await tampered(async (tx) => {
      const last = requireRow(await at(tx, await lastPosition()).first());
      await tx('audit_log').insert({
        ...last,
        actor: JSON.stringify(last.actor),
        details: JSON.stringify(last.details),
        id: newId('log'),
        position: last.position + 1n,
        previous_hash: last.hash,
      });
    });
    expect(proof).toMatchObject({ ok: false, position: (await lastPosition()) + 1n });
  });

  it('is found when all of it was removed', async () => {
    expect(await tampered((tx) => tx('audit_log').where({ organization_id: org.id }).delete())).toMatchObject(
      { ok: false, position: 1n, id: null },
    );
    expect(await verifyAudit(owner, org.id)).toMatchObject({ ok: true });
  });

  it('of one organization does not affect the proof of another', async () => {
    const other = await makeOrganization(owner);
    await tampered(async (tx) => {
      await at(tx, 5).update({ action: 'account.created' });
      expect(await verifyAudit(tx, other.id)).toMatchObject({ ok: true });
    });
  });
});
