import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { parseTransaction, recoverTransactionAddress } from 'viem';
import { type Keystore, KeystoreError } from '../../../../src/chain/keys';
import {
  backupKeystore,
  changePassphrase,
  createOrOpenKeystore,
  lastBackup,
  openKeystore,
  readPassphrase,
} from '../../../../src/signer/keys/keystore';

// scrypt takes its time by design, and more of it on a slow machine.
jest.setTimeout(60_000);

const passphrase = 'correct horse battery staple';
let folder: string;
let file: string;
/** Making and opening costs memory and time on purpose; what is not about that has an N of scrypt that is low. */
const LOW_COST = 2 ** 14;
// What only looks at keys shares one.
let sharedFolder: string;
let shared: Keystore;

beforeAll(async () => {
  sharedFolder = mkdtempSync(join(tmpdir(), 'keystore-'));
  shared = await createOrOpenKeystore({
    file: join(sharedFolder, 'keystore.json'),
    passphrase,
    cost: LOW_COST,
  });
});
afterAll(() => rmSync(sharedFolder, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keystore-'));
  file = join(folder, 'keys', 'keystore.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('creates a keystore once, which derives the same keys when it is opened again', async () => {
  const made = await createOrOpenKeystore({ file, passphrase });
  const opened = await openKeystore({ file, passphrase });
  const again = await createOrOpenKeystore({ file, passphrase });
  for (const keystore of [opened, again]) {
    expect(keystore.fingerprint).toBe(made.fingerprint);
    expect(keystore.organizationKey('org_1').address).toBe(made.organizationKey('org_1').address);
    expect(keystore.relayerKey(31_337, 0).address).toBe(made.relayerKey(31_337, 0).address);
  }
});

test('every organization, network and index has a key of its own', () => {
  const keystore = shared;
  const addresses = [
    keystore.organizationKey('org_1'),
    keystore.organizationKey('org_2'),
    keystore.relayerKey(1, 0),
    keystore.relayerKey(1, 1),
    keystore.relayerKey(11, 0),
  ].map(({ address }) => address);
  expect(new Set(addresses).size).toBe(addresses.length);
});

test('two that start at once end with one secret', async () => {
  const both = await Promise.all([
    createOrOpenKeystore({ file, passphrase, cost: LOW_COST }),
    createOrOpenKeystore({ file, passphrase, cost: LOW_COST }),
  ]);
  const stored = await openKeystore({ file, passphrase });
  expect(both.map(({ fingerprint }) => fingerprint)).toEqual([stored.fingerprint, stored.fingerprint]);
});

test('the file is readable by its owner only, and nothing else is left in its folder', () => {
  expect(statSync(join(sharedFolder, 'keystore.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(sharedFolder)).toEqual(['keystore.json']);
});

test('a wrong passphrase, damage and absence are reported by name', async () => {
  await expect(openKeystore({ file, passphrase })).rejects.toThrow(/keystore not found/);
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  await expect(openKeystore({ file, passphrase: 'another' })).rejects.toThrow(/passphrase is wrong/);
  const whole = readFileSync(file, 'utf8');
  const json = JSON.parse(whole);
  const flipped = json.cipher.text.startsWith('0') ? '1' : '0';
  json.cipher.text = flipped + json.cipher.text.slice(1);
  writeFileSync(file, JSON.stringify(json));
  await expect(openKeystore({ file, passphrase })).rejects.toThrow(/damaged/);
  writeFileSync(file, whole.slice(0, 100));
  await expect(openKeystore({ file, passphrase })).rejects.toThrow(KeystoreError);
  // A damaged keystore is never replaced by a new one.
  await expect(createOrOpenKeystore({ file, passphrase })).rejects.toThrow(KeystoreError);
});

/** Every path of a value in JSON, of those that are not objects. */
function leavesOf(json: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof json !== 'object' || json === null) return [path];
  return Object.entries(json).flatMap(([key, value]) => leavesOf(value, [...path, key]));
}

test('a change of any field is noticed, of the fingerprint and the cost too', async () => {
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  const whole = readFileSync(file, 'utf8');
  const paths = leavesOf(JSON.parse(whole));
  expect(paths.map((path) => path.join('.'))).toEqual(
    expect.arrayContaining(['fingerprint', 'kdf.N', 'kdf.r', 'kdf.p', 'kdf.salt', 'cipher.iv', 'cipher.tag']),
  );
  for (const path of paths) {
    const json = JSON.parse(whole);
    const parent = path.slice(0, -1).reduce((value, key) => value[key], json);
    const key = path.at(-1) ?? '';
    const value = parent[key];
    parent[key] =
      typeof value === 'number' ? value * 2 : (value.startsWith('0') ? '1' : '0') + value.slice(1);
    writeFileSync(file, JSON.stringify(json));
    await expect(openKeystore({ file, passphrase })).rejects.toThrow(KeystoreError);
  }
  // Other spaces and another order of fields are not a change.
  const { cipher, kdf, ...rest } = JSON.parse(whole);
  writeFileSync(file, JSON.stringify({ cipher, kdf, ...rest }));
  await openKeystore({ file, passphrase });
});

test.each([0o640, 0o604, 0o620, 0o602, 0o677])(
  'a file with mode %o is refused, with the command that corrects it',
  async (mode) => {
    await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
    chmodSync(file, mode);
    const message = `${file}: its mode ${mode.toString(8)} lets others access it (expected 600). Run \`chmod 600 ${file}\``;
    await expect(openKeystore({ file, passphrase })).rejects.toThrow(message);
    await expect(createOrOpenKeystore({ file, passphrase })).rejects.toThrow(KeystoreError);
    chmodSync(file, 0o400);
    await openKeystore({ file, passphrase });
  },
);

test('a passphrase of less than 12 characters is refused, and not shown', () => {
  const short = 'pässwörd-11';
  expect(short).toHaveLength(11);
  const refused = (settings: Parameters<typeof readPassphrase>[0]) => {
    try {
      return readPassphrase(settings);
    } catch (error) {
      return String(error);
    }
  };
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${short}\n`);
  expect(refused({ passphrase: short })).toBe(
    'KeystoreError: KEYSTORE_PASSPHRASE: must have at least 12 characters',
  );
  expect(refused({ passphraseFile })).toBe(
    `KeystoreError: KEYSTORE_PASSPHRASE_FILE: the text in ${passphraseFile} must have at least 12 characters`,
  );
  expect(refused({ passphrase: `${short}!` })).toBe(`${short}!`);
  // A character is not a code unit, nor a mark of a letter.
  expect(refused({ passphrase: '🔑'.repeat(11) })).toContain('at least 12');
  expect(refused({ passphrase: 'a\u0308'.repeat(11) })).toContain('at least 12');
});

test('a printed keystore or key discloses no secret', () => {
  const keystore = shared;
  const key = keystore.relayerKey(1, 0);
  const shown = [keystore, key].flatMap((thing) => [
    inspect(thing, { depth: 10, showHidden: true }),
    JSON.stringify(thing),
    String(thing),
  ]);
  const allowed = [key.address.slice(2).toLowerCase(), keystore.fingerprint];
  for (const text of shown) {
    let rest = text.toLowerCase();
    for (const known of allowed) rest = rest.replaceAll(known, '');
    expect(rest).not.toMatch(/[0-9a-f]{32}/);
  }
});

test('a relayer key signs transactions as its address', async () => {
  const key = shared.relayerKey(1, 0);
  const raw = await key.signTransaction({
    type: 'eip1559',
    chainId: 1,
    nonce: 3,
    gas: 21_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  });
  expect(parseTransaction(raw)).toMatchObject({ chainId: 1, nonce: 3 });
  expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
    key.address,
  );
});

test('a backup opens with the same passphrase, is recorded, and overwrites no file', async () => {
  const made = await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  expect(lastBackup(file)).toBeNull();
  const to = join(folder, 'backup.json');
  await backupKeystore(file, to);
  expect(lastBackup(file)).toMatch(/^\d{4}-/);
  expect((await openKeystore({ file: to, passphrase })).fingerprint).toBe(made.fingerprint);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  await expect(backupKeystore(file, to)).rejects.toThrow(/exists already/);
});

const another = 'another horse battery staple';

test('the backup before a change of the passphrase is none of the new file', async () => {
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  await backupKeystore(file, join(folder, 'backup.json'));
  await changePassphrase(file, { from: passphrase, to: another, cost: LOW_COST });
  expect(lastBackup(file)).toBeNull();
  await backupKeystore(file, join(folder, 'new.json'));
  expect(lastBackup(file)).toMatch(/^\d{4}-/);
  rmSync(join(folder, 'backup.json'));
});

test('a change of the passphrase keeps a link, and changes the file that it names', async () => {
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  const link = join(elsewhere, 'link.json');
  symlinkSync(file, link);
  await changePassphrase(link, { from: passphrase, to: another, cost: LOW_COST });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  for (const path of [link, file]) await openKeystore({ file: path, passphrase: another });
  expect(readdirSync(elsewhere)).toEqual(['link.json']);
});

test('what another user runs leaves keystore and mark to the user of the signer', async () => {
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  // Only root may give a file away; others are its owner already.
  const owner = process.getuid?.() === 0 ? 65_534 : statSync(file).uid;
  if (owner !== statSync(file).uid) chownSync(file, owner, owner);
  await changePassphrase(file, { from: passphrase, to: another, cost: LOW_COST });
  await backupKeystore(file, join(folder, 'backup.json'));
  for (const path of [file, `${file}.backup.json`]) {
    expect(statSync(path)).toMatchObject({ uid: owner });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

test('only one line break at the end of a file is not part of the passphrase', async () => {
  const passphraseFile = join(folder, 'passphrase');
  const read = (text: string) => {
    writeFileSync(passphraseFile, text);
    return readPassphrase({ passphraseFile });
  };
  for (const end of ['', '\n', '\r\n']) expect(read(`${passphrase}${end}`)).toBe(passphrase);
  // As it is where the setting has it.
  for (const end of [' ', '\t\n', '  \r\n']) {
    expect(read(`${passphrase}${end}`)).toBe(`${passphrase}${end.replace(/\r?\n$/, '')}`);
  }
  for (const end of ['\n\n', '\r\n\r\n', '\nx'])
    expect(() => read(`${passphrase}${end}`)).toThrow(/several lines/);
  expect(() => read('             \n')).toThrow(/is empty/);
  await createOrOpenKeystore({ file, passphrase, cost: LOW_COST });
  const opening = openKeystore({ file, passphrase: read(`${passphrase} \n`) });
  await expect(opening).rejects.toThrow(/wrong.*begins or ends with white space, which counts/);
  await expect(openKeystore({ file, passphrase: another })).rejects.toThrow(/changed$/);
});

test('the passphrase comes from its setting or from its file', () => {
  expect(readPassphrase({ passphrase })).toBe(passphrase);
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${passphrase}\n`);
  expect(readPassphrase({ passphraseFile })).toBe(passphrase);
  writeFileSync(passphraseFile, '');
  expect(() => readPassphrase({ passphraseFile })).toThrow(/is empty/);
  expect(() => readPassphrase({})).toThrow(/KEYSTORE_PASSPHRASE/);
});

test('what is not a file is refused, and not read', async () => {
  mkdirSync(file, { recursive: true, mode: 0o700 });
  await expect(openKeystore({ file, passphrase })).rejects.toThrow(`${file}: is not a file`);
});
