/** @deep */
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../src/projectRoot';
import { createOrOpenKeystore, openKeystore } from '../../src/signer/keys/keystore';
import { codeBlocks } from '../support/markdown';
import { serviceSettings } from '../support/service';
import { sharedStack, temporaryDir } from '../support/stack';
import { DEEP } from '../support/suite';
import { COMPILED, command, json, refused, spawned } from './command';

const OLD = 'the passphrase until today';
const NEW = 'the passphrase from today on';
/** N of scrypt: the test opens it often. */
const LOW_COST = 2 ** 14;

let env: NodeJS.ProcessEnv;
let file: string;
let fingerprint: string;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(projectRoot(), 'tools', 'dev', 'bootstrap.mjs')]);
}, 120_000);
beforeEach(async () => {
  const folder = temporaryDir();
  file = join(folder, 'keystore.json');
  const { DATABASE_URL } = await serviceSettings();
  env = {
    ...{ ORGWALLET_DATA_DIR: folder, DATABASE_URL, NETWORKS_FILE: sharedStack().networksFile },
    ...{ KEYSTORE_PASSPHRASE: OLD, NEW_KEYSTORE_PASSPHRASE: NEW },
  };
  ({ fingerprint } = await createOrOpenKeystore({ file, passphrase: OLD, cost: LOW_COST }));
});

const opensWith = (passphrase: string) =>
  openKeystore({ file, passphrase }).then(
    (opened) => opened.fingerprint,
    () => undefined,
  );

const change = (...options: string[]) => json(env, 'keystore', 'change-passphrase', ...options);

test('the keystore opens with the new passphrase only, and has the same keys', async () => {
  const { address } = (await openKeystore({ file, passphrase: OLD })).relayerKey(1, 0);
  expect(await change()).toEqual({ file, fingerprint, changed: true });
  expect(await opensWith(OLD)).toBeUndefined();
  expect((await openKeystore({ file, passphrase: NEW })).relayerKey(1, 0).address).toBe(address);
  expect(readFileSync(file, 'utf8')).not.toContain(NEW);
  // Once more, as after a crash that nobody has seen.
  expect(await change()).toEqual({ file, fingerprint, changed: false });
}, 60_000);

const KILLED = [
  ['keystore.replaced', NEW],
  ['keystore.verified', OLD],
  ['keystore.written', OLD],
] as const;

test.each(DEEP ? KILLED : KILLED.slice(0, 2))(
  'a process that is killed at %s leaves one whole keystore, and the command ends the change',
  async (point, opens) => {
    const killed = await spawned(
      { ...env, TEST_FAILPOINT: point },
      process.execPath,
      COMPILED,
      'keystore',
      'change-passphrase',
    );
    expect(killed.status).toBe(-1);
    expect(await opensWith(opens)).toBe(fingerprint);
    expect(await opensWith(opens === OLD ? NEW : OLD)).toBeUndefined();
    expect(await change()).toEqual({ file, fingerprint, changed: opens === OLD });
    expect(await opensWith(NEW)).toBe(fingerprint);
    // Nothing that lies beside it opens with anything but the new passphrase.
    for (const name of readdirSync(env.ORGWALLET_DATA_DIR ?? '').filter((one) => one.endsWith('.tmp'))) {
      const beside = join(env.ORGWALLET_DATA_DIR ?? '', name);
      await expect(openKeystore({ file: beside, passphrase: OLD })).rejects.toThrow();
    }
  },
  60_000,
);

test('a wrong, a missing and a short passphrase change nothing, and are not shown', async () => {
  const before = readFileSync(file, 'utf8');
  env.NEW_KEYSTORE_PASSPHRASE = 'short';
  expect(await refused(env, 'keystore', 'change-passphrase')).toBe(
    'NEW_KEYSTORE_PASSPHRASE: must have at least 12 characters\n',
  );
  delete env.NEW_KEYSTORE_PASSPHRASE;
  expect(await refused(env, 'keystore', 'change-passphrase')).toMatch(
    /^NEW_KEYSTORE_PASSPHRASE or NEW_KEYSTORE_PASSPHRASE_FILE must be set/,
  );
  Object.assign(env, { NEW_KEYSTORE_PASSPHRASE: NEW, KEYSTORE_PASSPHRASE: 'another passphrase' });
  expect(await refused(env, 'keystore', 'change-passphrase')).toMatch(/the passphrase is wrong/);
  expect(readFileSync(file, 'utf8')).toBe(before);
}, 60_000);

test('both passphrases can be in files', async () => {
  const [from, to] = [join(temporaryDir(), 'old'), join(temporaryDir(), 'new')];
  writeFileSync(from, `${OLD}\n`);
  writeFileSync(to, `${NEW}\n`);
  const { KEYSTORE_PASSPHRASE: _, NEW_KEYSTORE_PASSPHRASE: __, ...others } = env;
  env = { ...others, KEYSTORE_PASSPHRASE_FILE: from, NEW_KEYSTORE_PASSPHRASE_FILE: to };
  expect(await change()).toMatchObject({ changed: true });
  expect(await opensWith(NEW)).toBe(fingerprint);
}, 60_000);

test('a file that is not a passphrase, as the keystore itself, is refused', async () => {
  const before = readFileSync(file, 'utf8');
  const { NEW_KEYSTORE_PASSPHRASE: _, ...others } = env;
  env = { ...others, NEW_KEYSTORE_PASSPHRASE_FILE: file };
  expect(await refused(env, 'keystore', 'change-passphrase')).toMatch(
    `NEW_KEYSTORE_PASSPHRASE_FILE: ${file} has several lines (expected one: the secret alone)`,
  );
  expect(readFileSync(file, 'utf8')).toBe(before);
}, 60_000);

test('a database URL in a file is used by the commands, and a file that cannot be read is named', async () => {
  const url = join(temporaryDir(), 'url');
  writeFileSync(url, `${env.DATABASE_URL}\n`);
  const { DATABASE_URL: _, ...others } = env;
  expect(await json({ ...others, DATABASE_URL_FILE: url }, 'org', 'list')).toEqual([]);
  expect(await refused({ ...others, DATABASE_URL_FILE: `${url}.gone` }, 'org', 'list')).toMatch(
    `DATABASE_URL_FILE: ${url}.gone cannot be read: ENOENT`,
  );
  expect(await refused({ ...env, DATABASE_URL_FILE: url }, 'org', 'list')).toMatch(
    'DATABASE_URL_FILE: is set beside DATABASE_URL: only one of them can be',
  );
}, 60_000);

// docs/production.md, "Two people open it": its commands, with the folders of two people and of the signer in a temporary one.
test('two people, each with a half of the passphrase, open it together', async () => {
  const page = readFileSync(join(projectRoot(), 'docs', 'production.md'), 'utf8');
  const section = page.slice(page.indexOf('### Two people open it'));
  const folder = temporaryDir();
  const blocks = codeBlocks(section).slice(0, 2);
  const run = (text: string) =>
    execFileSync('sh', ['-euc', text.replaceAll(/\/(media|run)\//g, `${folder}/$1/`)], { encoding: 'utf8' });
  run(`mkdir -p /media/alice /media/bob /run/orgwallet\n${blocks[0]}`);
  run(blocks[1] ?? '');
  const passphraseFile = join(folder, 'run', 'orgwallet', 'passphrase');
  const { NEW_KEYSTORE_PASSPHRASE: _, ...others } = env;
  const set = { ...others, NEW_KEYSTORE_PASSPHRASE_FILE: passphraseFile };
  expect((await command(set, 'keystore', 'change-passphrase')).status).toBe(0);
  const halves = ['alice', 'bob'].map((who) =>
    readFileSync(join(folder, 'media', who, 'half'), 'utf8').trim(),
  );
  for (const half of halves) expect(await opensWith(half)).toBeUndefined();
  expect(await opensWith(halves.join(''))).toBe(fingerprint);
}, 60_000);
