import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeSignature } from '../../src/chain/signatures';
import type { Db } from '../../src/db/database';
import { canonicalJson } from '../../src/domain/canonicalJson';
import { connectAsOwner, serviceSettings } from '../support/service';
import { temporaryDir } from '../support/stack';
import { command, json, refused, words } from './command';

const wallet = (index: number) => privateKeyToAccount(`0x${index.toString(16).padStart(64, '0')}`);
const address = (index: number) => wallet(index).address;
const ALICE = { name: 'Alice', type: 'user', walletAddress: address(1), admin: true };
const BOT = { name: 'Bot', type: 'api', walletAddress: address(2), admin: true };
const DAVE = { name: 'Dave', type: 'user', walletAddress: address(3), admin: false };
const WELL_KNOWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const GOOD = { name: 'Acme', threshold: 2, members: [ALICE, BOT, DAVE] };

let env: NodeJS.ProcessEnv;
let db: Db;
let file: string;

beforeAll(async () => {
  env = await serviceSettings();
  db = connectAsOwner(env);
  file = join(temporaryDir(), 'org.json');
});
afterAll(() => db?.destroy());

function write(content: unknown): void {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}
const create = () => ['org', 'create', '--file', file];

describe('org create', () => {
  it('creates the organization, its members and its admins, and prints their ids', async () => {
    write({ ...GOOD, members: [{ ...ALICE, walletAddress: ALICE.walletAddress.toLowerCase() }, BOT, DAVE] });
    const made = await json(env, ...create());
    expect(made).toEqual({
      organizationId: expect.stringMatching(/^org_/),
      memberIds: [1, 2, 3].map(() => expect.stringMatching(/^mem_/)),
      adminsId: expect.stringMatching(/^adm_/),
      genesis: {
        hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        payload: expect.stringContaining(made.organizationId),
      },
    });
    const organization_id = made.organizationId;
    const members = await db('members').where({ organization_id }).orderBy('position');
    expect(members.map(({ id, name, type, wallet_address }) => [id, name, type, wallet_address])).toEqual(
      [ALICE, BOT, DAVE].map(({ name, type, walletAddress }, index) => [
        made.memberIds[index],
        name,
        type,
        walletAddress,
      ]),
    );
    expect(await db('admin_set_members').where({ organization_id }).pluck('member_id')).toEqual(
      made.memberIds.slice(0, 2),
    );
    expect(await db('admin_sets').where({ organization_id }).first()).toMatchObject({
      id: made.adminsId,
      threshold: 2,
    });
    const actors = await db('audit_log').where({ organization_id }).pluck('actor');
    expect(actors.map(({ type }) => type)).toEqual(Array(4).fill('operator'));
  });

  it('prints the id of each member', async () => {
    write(GOOD);
    const text = await words(env, ...create());
    expect(text).toMatch(/^organization org_\w+$/m);
    expect(text).toMatch(/^mem_\w+ +Bot +api +admin$/m);
    expect(text).toMatch(/^mem_\w+ +Dave +user$/m);
    expect(text).toMatch(/^Next: every admin signs the genesis \(orgwallet org genesis org_\w+\)/m);
    expect(text).toMatch(/^ {2}orgwallet signer admit org_\w+ 0x[0-9a-f]{64}$/m);
    expect(text).toMatch(/^Then: orgwallet keys issue --member mem_\w+$/m);
  });

  const withMember = (change: object) => ({ ...GOOD, members: [ALICE, BOT, { ...DAVE, ...change }] });
  const without = (key: keyof typeof GOOD) =>
    Object.fromEntries(Object.entries(GOOD).filter(([k]) => k !== key));
  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /org\.json: .*JSON/],
    ['no object', [], /the file: /],
    ['no name', without('name'), /: name: /],
    ['an empty name', { ...GOOD, name: '' }, /: name: /],
    ['a name with a control character', { ...GOOD, name: 'A\u0007' }, /: name: .*control/],
    ['a name that is too long', { ...GOOD, name: 'A'.repeat(101) }, /: name: .*100/],
    ['no threshold', without('threshold'), /: threshold: /],
    ['threshold zero', { ...GOOD, threshold: 0 }, /: threshold: /],
    ['a broken threshold', { ...GOOD, threshold: 1.5 }, /: threshold: /],
    ['a threshold that nobody can meet', { ...GOOD, threshold: 3 }, /: threshold: .*admins \(2\)/],
    ['no members', without('members'), /: members: /],
    ['an empty list of members', { ...GOOD, members: [] }, /: members: /],
    ['a member without a name', withMember({ name: undefined }), /: members\[2\]\.name: /],
    ['a type that does not exist', withMember({ type: 'robot' }), /: members\[2\]\.type: /],
    ['a short address', withMember({ walletAddress: '0x1234' }), /: members\[2\]\.walletAddress: /],
    [
      'an address with a wrong checksum',
      withMember({ walletAddress: '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cf'.replace('B', 'b') }),
      /: members\[2\]\.walletAddress: .*checksum/,
    ],
    ['the zero address', withMember({ walletAddress: `0x${'0'.repeat(40)}` }), /walletAddress: .*zero/],
    [
      'an address twice',
      withMember({ walletAddress: BOT.walletAddress.toLowerCase() }),
      /: members\[2\]\.walletAddress: is given twice/,
    ],
    ['admin as text', withMember({ admin: 'true' }), /: members\[2\]\.admin: /],
    ['an unknown field', { ...GOOD, treshold: 2 }, /treshold/],
    ['an unknown field of a member', withMember({ role: 'x' }), /members\[2\].*role/],
    [
      'no admin of type api',
      { ...GOOD, threshold: 1, members: [ALICE, { ...BOT, admin: false }] },
      /: members: .*type api/,
    ],
  ])('refuses %s, names the field, and creates nothing', async (_, content, message) => {
    write(content);
    const before = await db('organizations').count();
    expect(await refused(env, ...create())).toMatch(message);
    expect(await db('organizations').count()).toEqual(before);
  });

  it('names every bad field at once', async () => {
    write({ ...withMember({ type: 'robot' }), threshold: 0 });
    expect((await refused(env, ...create())).match(/org\.json: \S+:/g)).toHaveLength(2);
  });

  it('refuses a missing file', async () => {
    expect(await refused(env, 'org', 'create', '--file', '/no/such/org.json')).toMatch(
      /^\/no\/such\/org\.json: no such file or folder$/m,
    );
  });
});

describe('the genesis of an organization', () => {
  it('takes effect when every admin has signed it and the signer has admitted it, once', async () => {
    write(GOOD);
    const { organizationId: id, memberIds, genesis } = await json(env, ...create());
    const sign = async (index: number) => {
      const signature = await wallet(index).signTypedData(JSON.parse(genesis.payload));
      return ['org', 'sign', id, '--signature', signature];
    };
    const admit = ['signer', 'admit', id, genesis.hash];
    expect(await json(env, 'org', 'genesis', id)).toMatchObject({
      hash: genesis.hash,
      missing: expect.arrayContaining(memberIds.slice(0, 2)),
      admitted: false,
    });
    const genesisFile = join(temporaryDir(), 'genesis.json');
    expect(await words(env, 'org', 'genesis', id, '--out', genesisFile)).not.toContain(genesis.payload);
    expect(readFileSync(genesisFile, 'utf8')).toBe(genesis.payload);
    for (const subject of [genesisFile, id]) {
      const mine = ['--wallet', wallet(1).address];
      const shown = await json(
        env,
        'verify',
        subject,
        '--hash',
        genesis.hash.toUpperCase().replace('0X', '0x'),
        ...mine,
      );
      expect(shown).toMatchObject({ organization: id, digest: genesis.hash, threshold: GOOD.threshold });
      expect(shown.admins.map((admin: { id: string }) => admin.id).sort()).toEqual(
        [...memberIds.slice(0, 2)].sort(),
      );
    }
    // Without a database, as each founder does it.
    expect(await words({}, 'verify', genesisFile)).toMatch(`digest        ${genesis.hash}\n`);
    expect(await refused({}, 'verify', genesisFile, '--hash', `0x${'1'.repeat(64)}`)).toMatch(
      /^genesis: .*digest/,
    );
    expect(await refused({}, 'verify', genesisFile, '--wallet', wallet(3).address)).toMatch(
      wallet(3).address,
    );
    const other = await refused(env, ...(await sign(3)));
    expect(other).toMatch(/is not an admin|no admin/);
    expect(other).toMatch(/; the admins are "Alice" \(mem_\w+\) 0x\w+, .*; not signed yet: "Alice" /);
    const wrong = await wallet(1).signMessage({ message: 'another' });
    expect(
      await refused(env, 'org', 'sign', id, '--signature', encodeSignature(wallet(1).address, wrong)),
    ).toMatch(/^the signature of "Alice" \(mem_\w+\) is wrong: /);
    const [alice, bot] = memberIds;
    expect(await json(env, ...(await sign(1)))).toEqual({ memberIds: [alice], missing: [bot] });
    expect(await refused(env, ...admit)).toMatch(/lacks the signatures of "Bot"/);
    expect(await words(env, ...(await sign(2)))).toMatch(
      /^"Bot" \(mem_\w+\) has signed the genesis 0x\w+\nsigned by every admin\. /,
    );
    // Once more: nothing is stored, and nothing is audited.
    expect(await json(env, ...(await sign(2)))).toEqual({ memberIds: [bot], missing: [] });
    expect(await refused(env, 'signer', 'admit', id, `0x${'0'.repeat(64)}`)).toMatch(/has the hash 0x/);
    expect(await db('sealed_states').where({ organization_id: id })).toEqual([]);
    expect(await words(env, ...admit)).toBe(`organization ${id} is admitted\n`);
    expect(await json(env, 'org', 'genesis', id)).toMatchObject({ missing: [], admitted: true });
    expect(await refused(env, ...admit)).toMatch(/is admitted already/);
    const seals = await db('seals').where({ organization_id: id });
    expect(seals).toMatchObject([{ sequence: 0n, proposal_id: null }]);
    const actions = await db('audit_log').where({ organization_id: id }).pluck('action');
    expect(actions.filter((action) => action === 'organization.signed')).toHaveLength(2);
  });

  it('takes signatures of several founders from files, and names whose is of another genesis', async () => {
    write(GOOD);
    const { organizationId: id, memberIds, genesis } = await json(env, ...create());
    const dir = temporaryDir();
    const { address: walletAddress } = wallet(1);
    const bytes = await wallet(1).signTypedData(JSON.parse(genesis.payload));
    /** A file as the console saves it. */
    const saved = (name: string, change: object = {}) => {
      const signature = encodeSignature(walletAddress, bytes);
      const content = { organization: id, digest: genesis.hash, name: 'Alice', walletAddress, signature };
      writeFileSync(join(dir, name), JSON.stringify({ ...content, ...change }));
      return join(dir, name);
    };
    const sign = (...given: string[]) => ['org', 'sign', id, ...given.flatMap((one) => ['--signature', one])];
    const other = `0x${'1'.repeat(64)}`;
    expect(await refused(env, ...sign(saved('stale.json', { digest: other })))).toBe(
      `${join(dir, 'stale.json')}: "Alice" (${walletAddress}) has signed the genesis ${other} of ${id}, not ${genesis.hash} of ${id}\n`,
    );
    expect(await refused(env, ...sign(saved('elsewhere.json', { organization: 'org_other' })))).toMatch(
      /"Alice" \(0x\w+\) has signed the genesis 0x\w+ of org_other, not /,
    );
    const wrong = encodeSignature(walletAddress, await wallet(1).signMessage({ message: 'another' }));
    expect(await refused(env, ...sign(saved('wrong.json', { signature: wrong })))).toMatch(
      /wrong\.json: the signature of "Alice" \(mem_\w+\) is wrong: .*; not signed yet: "Alice" .*, "Bot" /,
    );
    writeFileSync(join(dir, 'none.json'), '{}');
    expect(await refused(env, ...sign(join(dir, 'none.json')))).toMatch(/none\.json: not a signature /);
    expect(await refused(env, ...sign(join(dir, 'missing.json')))).toMatch(/missing\.json: no such file/);
    expect(await json(env, 'org', 'genesis', id)).toMatchObject({ missing: memberIds.slice(0, 2) });
    // As `cast wallet sign` prints it.
    const ofBot = join(dir, 'bot.sig');
    writeFileSync(ofBot, `${await wallet(2).signTypedData(JSON.parse(genesis.payload))}\n`);
    expect(await json(env, ...sign(saved('alice.json'), ofBot))).toEqual({
      memberIds: memberIds.slice(0, 2),
      missing: [],
    });
    expect(await words(env, 'signer', 'admit', id, genesis.hash)).toMatch(/is admitted$/m);
  });

  it('takes a signature as a shell or a device writes it, and reads no file without an end', async () => {
    write(GOOD);
    const { organizationId: id, memberIds, genesis } = await json(env, ...create());
    const dir = temporaryDir();
    const sign = (...given: string[]) => ['org', 'sign', id, ...given.flatMap((one) => ['--signature', one])];
    expect(await refused(env, ...sign('/dev/zero'))).toMatch(/^\/dev\/zero: too large \(at most 32 MiB\)/);
    const spoofed = join(dir, 'spoofed.json');
    const content = { organization: id, digest: genesis.hash, name: 'Alice', signature: '0x' };
    writeFileSync(
      spoofed,
      JSON.stringify({ ...content, walletAddress: '0x1\nsigned by every admin', digest: 'x' }),
    );
    expect(await refused(env, ...sign(spoofed))).toMatch(/spoofed\.json: not a signature /);
    const typed = JSON.parse(genesis.payload);
    const [first, second] = [await wallet(1).signTypedData(typed), await wallet(2).signTypedData(typed)];
    const ofAlice = join(dir, 'alice.sig');
    writeFileSync(ofAlice, Buffer.from(`\ufeff${first}\r\n`, 'utf16le'));
    const ofBot = second.endsWith('1b') ? second.replace(/1b$/, '00') : second.replace(/1c$/, '01');
    expect(await json(env, ...sign(ofAlice, ofBot))).toEqual({
      memberIds: memberIds.slice(0, 2),
      missing: [],
    });
  });

  it('is not said to be signed where what is stored for a founder does not verify', async () => {
    write(GOOD);
    const { organizationId: id, memberIds, genesis } = await json(env, ...create());
    await db('genesis_signatures').insert({ organization_id: id, member_id: memberIds[0], signature: '0x' });
    const signature = await wallet(1).signTypedData(JSON.parse(genesis.payload));
    expect(await refused(env, 'org', 'sign', id, '--signature', signature)).toMatch(
      /the signature of "Alice" \(mem_\w+\) that is stored is wrong: .*: create the organization again/,
    );
  });

  it('is admitted for no other organization, though its row is put there', async () => {
    write(GOOD);
    const [one, other] = [await json(env, ...create()), await json(env, ...create())];
    const [id, otherId] = [one.organizationId, other.organizationId];
    for (const index of [1, 2]) {
      const signature = await wallet(index).signTypedData(JSON.parse(other.genesis.payload));
      await words(env, 'org', 'sign', otherId, '--signature', signature);
    }
    const row = await db('genesis').where({ organization_id: otherId }).first();
    await db('genesis')
      .where({ organization_id: id })
      .update({ state: row?.state ?? '' });
    const signatures = await db('genesis_signatures').where({ organization_id: otherId });
    await db('genesis_signatures').insert(signatures.map((signed) => ({ ...signed, organization_id: id })));
    expect(await refused(env, 'signer', 'admit', id, other.genesis.hash)).toMatch(
      `the genesis of ${id} is of ${otherId}`,
    );
    expect(await db('seals').where({ organization_id: id })).toEqual([]);
  });

  it.each(['groups', 'policies', 'accounts'])('is not admitted with %s in it', async (kind) => {
    write(GOOD);
    const { organizationId: id } = await json(env, ...create());
    const row = await db('genesis').where({ organization_id: id }).first();
    const changed = {
      ...JSON.parse(row?.state ?? ''),
      [kind]: { x_1: { id: 'x_1', name: 'x', revision: 0 } },
    };
    await db('genesis')
      .where({ organization_id: id })
      .update({ state: canonicalJson(changed) });
    const { hash, payload } = await json(env, 'org', 'genesis', id);
    for (const index of [1, 2]) {
      const signature = await wallet(index).signTypedData(payload);
      await words(env, 'org', 'sign', id, '--signature', signature);
    }
    expect(await refused(env, 'signer', 'admit', id, hash)).toMatch(
      `the genesis of ${id} has ${kind}: an organization begins without any`,
    );
  });

  it('has no well-known key in production', async () => {
    const production = { ...env, NODE_ENV: 'production' };
    write({ ...GOOD, members: [ALICE, BOT, { ...DAVE, walletAddress: WELL_KNOWN }] });
    expect(await refused(production, ...create())).toMatch(
      `org.json: members[2].walletAddress: ${WELL_KNOWN} of "Dave" has a well-known private key`,
    );
    const { organizationId: id, genesis } = await json(env, ...create());
    const admit = ['signer', 'admit', id, genesis.hash];
    expect(await refused(production, ...admit)).toMatch(
      `${WELL_KNOWN} of "Dave" has a well-known private key`,
    );
    expect(await refused(env, ...admit)).toMatch(/lacks the signatures of/);
  });

  it('names an organization that there is not', async () => {
    for (const asked of [
      ['org', 'genesis'],
      ['org', 'sign', '--signature', '0x'],
      ['signer', 'admit'],
    ]) {
      const [group = '', verb = '', ...more] = asked;
      const hash = verb === 'admit' ? [`0x${'0'.repeat(64)}`] : [];
      expect(await refused(env, group, verb, 'org_none', ...hash, ...more)).toMatch(
        /organization org_none not found/,
      );
    }
  });
});

describe('org list', () => {
  it('lists all, oldest first, or reports that there are none', async () => {
    const empty = await serviceSettings();
    expect(await words(empty, 'org', 'list')).toBe(
      'There are no organizations yet: orgwallet org create --file org.json\n',
    );
    expect(await json(empty, 'org', 'list')).toEqual([]);
    write(GOOD);
    const { organizationId: first } = await json(empty, ...create());
    write({ ...GOOD, name: 'Bank' });
    const { organizationId: second } = await json(empty, ...create());
    expect(await json(empty, 'org', 'list')).toEqual([
      { id: first, name: 'Acme', createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
      { id: second, name: 'Bank', createdAt: expect.any(String) },
    ]);
    const lines = (await words(empty, 'org', 'list')).split('\n');
    expect(lines[0]).toMatch(/^id +name +created$/);
    expect(lines[2]).toMatch(new RegExp(`^${second} +Bank +\\d{4}-`));
  });
});

describe('wrong usage', () => {
  it.each<[string, string[], RegExp]>([
    ['no command', [], /Usage: orgwallet/],
    ['a command that does not exist', ['orgs'], /unknown command 'orgs'/],
    ['a group without its command', ['org'], /Usage: orgwallet org/],
    ['an unknown command of a group', ['org', 'drop'], /unknown command 'drop'/],
    ['a missing option', ['org', 'create'], /--file/],
    ['a missing value of an option', ['org', 'create', '--file'], /argument missing/],
    ['an unknown option', ['org', 'list', '--all'], /unknown option '--all'/],
    ['a word too many', ['org', 'list', 'extra'], /too many arguments/],
    ['a missing argument', ['keys', 'revoke'], /missing required argument/],
    ['a key without a member', ['keys', 'issue'], /--member/],
    [
      'an invalid duration',
      ['keys', 'issue', '--member', 'mem_1', '--expires', 'soon'],
      /invalid duration "soon"/,
    ],
    ['a key that is never valid', ['keys', 'issue', '--member', 'mem_1', '--expires', '0d'], /--expires/],
    [
      'a duration beyond every calendar',
      ['keys', 'issue', '--member', 'mem_1', '--expires', '999999999d'],
      /--expires/,
    ],
  ])('%s ends with 2 and help on stderr', async (_, argv, message) => {
    for (const more of [[], ['--json']]) {
      const { status, stdout, stderr } = await command(env, ...argv, ...more);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(message);
    }
  });

  it('help exits with 0', async () => {
    const help = await words({}, '--help');
    for (const group of ['org', 'keys', 'keystore', 'proposals', 'audit', 'db', 'doctor']) {
      expect(help).toMatch(new RegExp(`^ {2}${group}\\b`, 'm'));
    }
    expect(await words({}, 'keys', 'revoke', '--help')).toContain('--close-open');
  });
});

describe('settings and parts that a command needs', () => {
  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['no database', { DATABASE_URL: '' }, /^DATABASE_URL: is required and not set/],
    ['no networks', { NETWORKS_FILE: '/no/such/file' }, /^NETWORKS_FILE: \/no\/such\/file cannot be read/],
    [
      'an unavailable database',
      { DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/d' },
      /^the database cannot be reached: /,
    ],
    [
      'an unavailable database under a name with two addresses',
      { DATABASE_URL: 'postgres://u:secret@localhost:9/d' },
      /^the database cannot be reached: \S/,
    ],
  ])('%s: reported without the password', async (_, change, message) => {
    const text = await refused({ ...env, ...change }, 'org', 'list');
    expect(text).toMatch(message);
    expect(text).not.toContain('secret');
  });

  it('a wrong password or database name: reports the error of Postgres', async () => {
    const url = new URL(env.DATABASE_URL ?? '');
    url.pathname = '/no_such_database';
    const text = await refused({ ...env, DATABASE_URL: url.toString() }, 'org', 'list');
    expect(text).toMatch(/database "no_such_database" does not exist/);
    expect(text).not.toMatch(/db migrate/);
  });
});
