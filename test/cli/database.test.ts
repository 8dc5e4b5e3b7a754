import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrations } from '../../src/db/migrations';
import { createOrOpenKeystore, openKeystore } from '../../src/signer/keys/keystore';
import {
  connectAsOwner,
  databaseSettings,
  makeOrganization,
  serviceSettings,
  type TestOrganization,
} from '../support/service';
import { databaseNamed, sharedStack, temporaryDir } from '../support/stack';
import { command, json, refused, words } from './command';

describe('db migrate', () => {
  async function emptyDatabase(): Promise<NodeJS.ProcessEnv> {
    const name = `test_${randomBytes(6).toString('hex')}`;
    const client = new Client({ connectionString: sharedStack().databaseAdminUrl });
    await client.connect();
    await client.query(`create database ${name} owner orgwallet_owner`).finally(() => client.end());
    return databaseSettings(databaseNamed(name));
  }

  it('migrates an empty database once; before that, commands say what to do', async () => {
    const env = await serviceSettings({ database: await emptyDatabase() });
    expect(await refused(env, 'org', 'list')).toMatch(/run `\.\/orgwallet db migrate`/);
    const doctor = await command(env, 'doctor', '--json');
    expect(doctor.status).toBe(1);
    const findings = JSON.parse(doctor.stdout);
    const about = (part: string) => findings.find((finding: { part: string }) => finding.part === part);
    expect(about('schema')).toMatchObject({ status: 'fail', todo: './orgwallet db migrate' });
    expect(about('network 31337')).toMatchObject({ status: 'ok' });
    expect(await json(env, 'db', 'migrate')).toEqual({ applied: migrations.map(({ name }) => name) });
    expect(await json(env, 'db', 'migrate')).toEqual({ applied: [] });
    expect(await words(env, 'db', 'migrate')).toBe('nothing to do\n');
    expect(await json(env, 'org', 'list')).toEqual([]);
    for (const url of [env.DATABASE_URL, env.SIGNER_DATABASE_URL]) {
      const client = new Client({ connectionString: url });
      await client.connect();
      const made = client.query('CREATE TEMPORARY TABLE members (id text)');
      await expect(made.finally(() => client.end())).rejects.toThrow(
        'permission denied to create temporary tables',
      );
    }
  });

  it('run twice at once applies everything once', async () => {
    const env = await serviceSettings({ database: await emptyDatabase() });
    const both = await Promise.all([1, 2].map(() => json(env, 'db', 'migrate')));
    const names = migrations.map(({ name }) => name);
    expect(both.sort((a, b) => a.applied.length - b.applied.length)).toEqual([
      { applied: [] },
      { applied: names },
    ]);
    const db = connectAsOwner(env, 1);
    try {
      expect(await db('schema_migrations').orderBy('name').pluck('name')).toEqual([...names].sort());
    } finally {
      await db.destroy();
    }
  });
});

describe('audit verify', () => {
  let env: NodeJS.ProcessEnv;
  let owner: Client;
  let one: TestOrganization;
  let two: TestOrganization;

  beforeAll(async () => {
    env = await serviceSettings();
    const db = connectAsOwner(env);
    one = await makeOrganization(db);
    two = await makeOrganization(db);
    await db.destroy();
    owner = new Client({ connectionString: env.MIGRATION_DATABASE_URL });
    await owner.connect();
    await owner.query('CREATE TABLE unbroken AS SELECT * FROM audit_log');
  });
  afterAll(() => owner?.end());
  afterEach(() =>
    withoutTrigger(() =>
      owner.query('DELETE FROM audit_log; INSERT INTO audit_log SELECT * FROM unbroken ORDER BY position'),
    ),
  );

  async function withoutTrigger<T>(work: () => Promise<T>): Promise<T> {
    await owner.query('ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only');
    const result = await work();
    await owner.query('ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only');
    return result;
  }

  /** What nobody can do but the owner of the table. */
  async function asOwner(sql: string, values: unknown[]): Promise<void> {
    expect((await withoutTrigger(() => owner.query(sql, values))).rowCount).toBe(1);
  }

  async function entryAt(position: number): Promise<{ id: string }> {
    const { rows } = await owner.query(
      'SELECT id FROM audit_log WHERE organization_id = $1 AND position = $2',
      [two.id, position],
    );
    return rows[0];
  }

  it('verifies every organization, or the named one', async () => {
    const all = await json(env, 'audit', 'verify');
    // 6 members, the organization, 2 keys
    const unbroken = { ok: true, entries: 9, hash: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(all).toEqual([one, two].map(({ id }) => ({ organizationId: id, ...unbroken })));
    expect(await json(env, 'audit', 'verify', '--org', two.id)).toEqual([all[1]]);
    const text = await words(env, 'audit', 'verify');
    for (const { id } of [one, two]) expect(text).toMatch(new RegExp(`^${id}: 9 entries, unbroken`, 'm'));
    expect(await refused(env, 'audit', 'verify', '--org', 'org_none')).toBe(
      'organization org_none not found\n',
    );
  });

  it('the owner of the database cannot change an entry while the trigger is there', async () => {
    await expect(owner.query(`UPDATE audit_log SET action = 'x'`)).rejects.toThrow(/append-only/);
    await expect(owner.query('DELETE FROM audit_log')).rejects.toThrow(/append-only/);
    await expect(owner.query('TRUNCATE audit_log')).rejects.toThrow(/append-only/);
  });

  it.each<[string, string, number, RegExp]>([
    ['its details', `details = '{"after": {}}'`, 3, /content/],
    ['its actor', `actor = jsonb_set(actor, '{name}', '"nobody"')`, 3, /content/],
    ['its time', `created_at = created_at + interval '1 ms'`, 3, /content/],
    ['its action', `action = 'member.updated'`, 3, /content/],
    ['its hash', `hash = repeat('a', 64)`, 3, /content/],
    ['its place', 'position = 30', 4, /entry 3 is missing before it/],
  ])('names the entry whose %s was changed', async (_, change, position, reason) => {
    await asOwner(`UPDATE audit_log SET ${change} WHERE organization_id = $1 AND position = 3`, [two.id]);
    const { id } = await entryAt(position);
    const { status, stdout, stderr } = await command(env, 'audit', 'verify', '--json');
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'an audit log is broken\n' });
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ organizationId: one.id, ok: true }),
      { organizationId: two.id, ok: false, position, id, reason: expect.stringMatching(reason) },
    ]);
    const said = await command(env, 'audit', 'verify');
    expect(said.status).toBe(1);
    expect(said.stdout).toContain(`${two.id}: BROKEN at entry ${position} (${id}): `);
    expect((await command(env, 'audit', 'verify', '--org', one.id)).status).toBe(0);
  });

  it('names the entry that follows one that was removed', async () => {
    await asOwner('DELETE FROM audit_log WHERE organization_id = $1 AND position = 5', [two.id]);
    const { status, stdout } = await command(env, 'audit', 'verify', '--org', two.id, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ ok: false, position: 6, ...(await entryAt(6)) }),
    ]);
  });

  it('notices that the last entry was removed', async () => {
    await asOwner('DELETE FROM audit_log WHERE organization_id = $1 AND position = 9', [two.id]);
    const { status, stdout } = await command(env, 'audit', 'verify', '--org', two.id, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ ok: false, position: 9, id: null, reason: expect.stringMatching(/head/) }),
    ]);
  });
});

describe('keystore backup', () => {
  const passphrase = 'correct horse battery staple';

  it('copies the keystore, still encrypted, for its owner only; the copy opens', async () => {
    const env = await serviceSettings();
    const original = join(env.ORGWALLET_DATA_DIR ?? '', 'keystore.json');
    const { fingerprint, relayerKey } = await createOrOpenKeystore({ file: original, passphrase });
    const out = join(temporaryDir(), 'safe', 'copy.json');
    expect(await json(env, 'keystore', 'backup', '--out', out)).toEqual({ file: out, fingerprint });
    expect(readFileSync(out, 'utf8')).toBe(readFileSync(original, 'utf8'));
    expect(readFileSync(out, 'utf8')).not.toContain(passphrase);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const copy = await openKeystore({ file: out, passphrase });
    expect(copy.relayerKey(1, 0).address).toBe(relayerKey(1, 0).address);

    // A copy of a file that cannot be opened is not a backup.
    const wrong = { ...env, KEYSTORE_PASSPHRASE: 'another passphrase' };
    expect(await refused(wrong, 'keystore', 'backup')).toMatch(/the passphrase is wrong/);
    const before = readFileSync(out, 'utf8');
    expect(await refused(env, 'keystore', 'backup', '--out', out)).toMatch(/exists already/);
    expect(readFileSync(out, 'utf8')).toBe(before);

    const text = await words(env, 'keystore', 'backup');
    const [, file = ''] = /^(\S+) \(fingerprint [0-9a-f]{16}\)$/m.exec(text) ?? [];
    expect(file).toMatch(/backups\/keystore-\d{4}-/);
    expect(existsSync(file)).toBe(true);
  });

  it('is refused without a readable keystore', async () => {
    const env = await serviceSettings();
    rmSync(join(env.ORGWALLET_DATA_DIR ?? '', 'keystore.json'));
    expect(await refused(env, 'keystore', 'backup')).toMatch(/keystore\.json: cannot be read as a keystore/);
    expect(existsSync(join(env.ORGWALLET_DATA_DIR ?? '', 'backups'))).toBe(false);
  });
});
