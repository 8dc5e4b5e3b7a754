import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { privateKeyToAddress } from 'viem/accounts';
import { createProgram } from '../../src/cli/program';
import { anAddress } from '../support/builders';
import {
  connectAsOwner,
  makeKeystore,
  makeOrganization,
  serviceSettings,
  type TestOrganization,
} from '../support/service';
import { asAdmin, databaseNamed, sharedStack, temporaryDir } from '../support/stack';
import { command, json, type Outcome, refused } from './command';

const UNREACHABLE = 'postgres://nobody:secret@127.0.0.1:1/orgwallet';
const NO_ID = 'nonsense';

let env: NodeJS.ProcessEnv;
let org: TestOrganization;
let dir: string;
let nowhere: string;
let organizationFile: string;

/** The leaves of the program, each with its names: `org create`. */
function leaves(of: Command, names: readonly string[] = []): string[] {
  return of.commands.flatMap((child) => {
    const all = [...names, child.name()];
    return child.commands.length > 0 ? leaves(child, all) : [all.join(' ')];
  });
}

/** How each command is called, with what is there. */
const calls = (): Readonly<Record<string, readonly string[]>> => ({
  'org create': ['--file', organizationFile],
  'org genesis': [org.id],
  'org sign': [org.id, '--signature', '0x00'],
  'org list': [],
  'keys issue': ['--member', org.bot.id],
  'keys list': [],
  'keys revoke': [org.adminKeyId],
  'keys rotate': [org.adminKeyId],
  'sessions list': [],
  'sessions end': ['ses_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'keystore backup': ['--out', join(dir, `backup-${randomBytes(4).toString('hex')}.json`)],
  'keystore change-passphrase': [],
  'signer keys': [],
  'signer admit': [org.id, `0x${'0'.repeat(64)}`],
  'signer reconcile-restore': [],
  freeze: ['--org', org.id],
  unfreeze: ['--org', org.id],
  'proposals list': [],
  'proposals show': ['prop_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'proposals retry': ['prop_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'transactions list': [],
  'transactions show': ['txn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'transactions retry': ['txn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'transactions cancel': ['txn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  statement: ['acc_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'webhooks list': [],
  'webhooks pause': ['whk_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'webhooks resume': ['whk_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'webhooks resend': ['whk_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'channels list': [],
  'channels pause': ['chn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'channels resume': ['chn_01jz8k3v5fe5ht0n2m6w9r4xyz'],
  'rescue status': ['--org', org.id],
  'rescue kit': ['--org', org.id],
  'rescue page': ['--out', join(dir, `page-${randomBytes(4).toString('hex')}.html`)],
  'rescue verify': [organizationFile],
  verify: [organizationFile],
  'audit verify': [],
  'audit export': ['--org', org.id],
  'audit prove': [organizationFile],
  'db migrate': [],
  doctor: [],
});

/** Every fault that a command may meet: other settings, and what its arguments become. */
const faults: Readonly<
  Record<string, () => { env?: NodeJS.ProcessEnv; argument?: (given: string) => string }>
> = {
  'the database cannot be reached': () => ({
    env: {
      DATABASE_URL: UNREACHABLE,
      SIGNER_DATABASE_URL: UNREACHABLE,
      MIGRATION_DATABASE_URL: UNREACHABLE,
    },
  }),
  'the database is not migrated': () => ({
    env: {
      DATABASE_URL: empty.serviceUrl,
      SIGNER_DATABASE_URL: empty.signerUrl,
      MIGRATION_DATABASE_URL: empty.serviceUrl,
    },
  }),
  'the login is refused': () => {
    const wrong = (url = '') => url.replace(/:\/\/(\w+):[^@]*@/, '://$1:wrong@');
    return {
      env: {
        DATABASE_URL: wrong(env.DATABASE_URL),
        SIGNER_DATABASE_URL: wrong(env.SIGNER_DATABASE_URL),
        MIGRATION_DATABASE_URL: wrong(env.MIGRATION_DATABASE_URL),
      },
    };
  },
  'several hosts are listed': () => {
    const several = (url = '') => url.replace(/@([^/]+)\//, '@$1,127.0.0.1:1/');
    return {
      env: {
        DATABASE_URL: several(env.DATABASE_URL),
        SIGNER_DATABASE_URL: several(env.SIGNER_DATABASE_URL),
        MIGRATION_DATABASE_URL: several(env.MIGRATION_DATABASE_URL),
      },
    };
  },
  'Temporal cannot be reached': () => ({ env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } }),
  'Temporal has no such namespace': () => ({ env: { TEMPORAL_NAMESPACE: 'nowhere' } }),
  'the keystore is missing': () => ({ env: { KEYSTORE_FILE: nowhere } }),
  'the keystore is a folder': () => ({ env: { KEYSTORE_FILE: dir } }),
  'the journal is a folder': () => ({ env: { JOURNAL_FILE: dir } }),
  'the passphrase is wrong': () => ({ env: { KEYSTORE_PASSPHRASE: 'another passphrase than that' } }),
  'the networks file is missing': () => ({ env: { NETWORKS_FILE: nowhere } }),
  'the networks file is a folder': () => ({ env: { NETWORKS_FILE: dir } }),
  'files are missing': () => ({
    argument: (given) => (given.startsWith(organizationFile) ? nowhere : given),
  }),
  'files are folders': () => ({ argument: (given) => (given.startsWith('/') ? dir : given) }),
  'ids are malformed': () => ({ argument: (given) => (/^[a-z]+_|^0x/.test(given) ? NO_ID : given) }),
  'settings are missing': () => ({
    env: { DATABASE_URL: '', SIGNER_DATABASE_URL: '', MIGRATION_DATABASE_URL: '', NETWORKS_FILE: '' },
  }),
};

let empty: ReturnType<typeof databaseNamed>;

beforeAll(async () => {
  dir = temporaryDir();
  nowhere = join(dir, 'nowhere.json');
  env = await serviceSettings();
  const keystore = await makeKeystore(join(env.KEYSTORE_FILE ?? '', '..'), env.KEYSTORE_PASSPHRASE ?? '');
  const db = connectAsOwner(env);
  org = await makeOrganization(db, { keystore });
  await db.destroy();
  organizationFile = join(dir, 'org.json');
  const members = [
    { name: 'Alice', type: 'user', walletAddress: anAddress(), admin: true },
    { name: 'Bot', type: 'api', walletAddress: privateKeyToAddress(`0x${'7'.repeat(64)}`), admin: true },
  ];
  writeFileSync(organizationFile, JSON.stringify({ name: 'Faulty', threshold: 1, members }));
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(sharedStack().databaseAdminUrl, (client) =>
    client.query(`create database ${name} owner orgwallet_owner`),
  );
  empty = databaseNamed(name);
});

/** Nothing but sentences on stderr: no stack, no SQL, no secret. */
function expectExplained({ status, stderr }: Outcome): void {
  expect([0, 1, 2]).toContain(status);
  if (status !== 0) expect(stderr).toMatch(/\S/);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toMatch(/\b(select|insert into|update|with) "?\w+"?.* (from|set|values|where) /i);
  expect(stderr).not.toMatch(/secret|\n.*\n.*\n.*\n/);
}

it('has a call of each command', () => {
  const program = createProgram({ env: {}, out: () => undefined, err: () => undefined });
  expect(Object.keys(calls()).sort()).toEqual(leaves(program).sort());
});

describe.each(Object.entries(faults))('where %s', (_, fault) => {
  it('each command says so in a sentence', async () => {
    const { env: other = {}, argument = (given: string) => given } = fault();
    const unexplained: string[] = [];
    const printedBeside = jest.spyOn(console, 'log').mockImplementation();
    for (const [name, given] of Object.entries(calls())) {
      const outcome = await command({ ...env, ...other }, ...name.split(' '), ...given.map(argument));
      try {
        expectExplained(outcome);
      } catch {
        unexplained.push(`${name} (${outcome.status}): ${outcome.stderr.slice(0, 600)}`);
      }
    }
    expect(unexplained).toEqual([]);
    expect(printedBeside.mock.calls).toEqual([]);
    printedBeside.mockRestore();
  });
});

it('says that an organization was created with these keys already', async () => {
  const keys = join(dir, 'keys.json');
  writeFileSync(keys, JSON.stringify(await json(env, 'signer', 'keys')));
  await json(env, 'org', 'create', '--file', organizationFile, '--keys', keys);
  expect(await refused(env, 'org', 'create', '--file', organizationFile, '--keys', keys)).toMatch(
    /^organization org_\w+ exists already/,
  );
});

it('says which login a migration needs', async () => {
  const refusal = await refused({ ...env, MIGRATION_DATABASE_URL: empty.serviceUrl }, 'db', 'migrate');
  expect(refusal).toMatch(/^the database refuses this login: permission denied for schema public/);
});

it('names the file of a proof that is not there', async () => {
  expect(await refused(env, 'audit', 'prove', nowhere)).toBe(`${nowhere}: no such file or folder\n`);
});

it('does not connect anywhere else where several hosts are listed', async () => {
  const several = 'postgres://orgwallet_owner:secret@db-1:5432,db-2:5432/orgwallet';
  const refusal = await refused({ ...env, MIGRATION_DATABASE_URL: several }, 'db', 'migrate');
  expect(refusal).toMatch(/^MIGRATION_DATABASE_URL: lists several hosts \(db-1:5432,db-2:5432\)/);
});
