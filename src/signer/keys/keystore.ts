import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Hex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { type Keystore, KeystoreError, type SigningKey } from '../../chain/keys';
import { signRawTransaction } from '../../chain/rawTransaction';
import { canonicalJson } from '../../domain/canonicalJson';
import { failpoint } from '../../failpoints';
import { type FileOwner, giveTo } from '../../fileOwner';
import { hasOuterSpace, readSecret } from '../../secrets';

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const SECRET_BYTES = 32;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1 } as const;
const SCRYPT_MAX_MEMORY_BYTES = 512 * 1024 * 1024;
const MIN_PASSPHRASE_CHARACTERS = 12;
const GROUP_AND_OTHERS = 0o077;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const hexBytes = z.string().regex(/^([0-9a-f]{2})+$/);
const fileSchema = z.strictObject({
  version: z.literal(2),
  fingerprint: hexBytes,
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    N: z
      .number()
      .int()
      .min(2 ** 14)
      .max(2 ** 20),
    r: z.number().int().min(8).max(32),
    p: z.number().int().min(1).max(16),
    salt: hexBytes,
  }),
  cipher: z.strictObject({ name: z.literal('aes-256-gcm'), iv: hexBytes, tag: hexBytes, text: hexBytes }),
});
type KeystoreFile = z.infer<typeof fileSchema>;
type UnsealedFile = Omit<KeystoreFile, 'cipher'> & {
  readonly cipher: Pick<KeystoreFile['cipher'], 'name' | 'iv'>;
};

async function encryptionKey(passphrase: string, kdf: KeystoreFile['kdf']): Promise<Buffer> {
  const { N, r, p, salt } = kdf;
  return scryptAsync(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), 32, {
    N,
    r,
    p,
    maxmem: SCRYPT_MAX_MEMORY_BYTES,
  });
}

function fingerprintOf(secret: Buffer): string {
  return createHash('sha256').update('orgwallet/fingerprint').update(secret).digest('hex').slice(0, 16);
}

/** Everything in the file but the ciphertext and its tag, which authenticates it. */
function headerOf({ version, fingerprint, kdf, cipher: { name, iv } }: UnsealedFile): Buffer {
  return Buffer.from(canonicalJson({ version, fingerprint, kdf, cipher: { name, iv } }));
}

async function encrypt(secret: Buffer, passphrase: string, cost: number): Promise<KeystoreFile> {
  const unsealed: UnsealedFile = {
    version: 2,
    fingerprint: fingerprintOf(secret),
    kdf: { name: 'scrypt', ...SCRYPT, N: cost, salt: randomBytes(32).toString('hex') },
    cipher: { name: 'aes-256-gcm', iv: randomBytes(12).toString('hex') },
  };
  const key = await encryptionKey(passphrase, unsealed.kdf);
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.from(unsealed.cipher.iv, 'hex'));
  cipher.setAAD(headerOf(unsealed));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  const tag = cipher.getAuthTag();
  return {
    ...unsealed,
    cipher: { ...unsealed.cipher, tag: tag.toString('hex'), text: text.toString('hex') },
  };
}

async function decrypt(path: string, file: KeystoreFile, passphrase: string): Promise<Buffer> {
  const { iv, tag, text } = file.cipher;
  const key = await encryptionKey(passphrase, file.kdf);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'hex'), { authTagLength: 16 });
    decipher.setAAD(headerOf(file));
    decipher.setAuthTag(Buffer.from(tag, 'hex'));
    return Buffer.concat([decipher.update(Buffer.from(text, 'hex')), decipher.final()]);
  } catch {
    const space = hasOuterSpace(passphrase)
      ? ' (the passphrase that was given begins or ends with white space, which counts)'
      : '';
    throw new KeystoreError(
      `${path}: cannot be decrypted: the passphrase is wrong, or the file is damaged or changed${space}`,
    );
  }
}

interface WriteOptions {
  readonly exclusive?: boolean;
  /** Whose the file is to be; absent: of the user of this process. */
  readonly owner?: FileOwner;
  /** Looks at the file that was written before it takes its place; throws where it is not as it should be. */
  readonly verify?: (written: string) => Promise<void>;
}

/**
 * Writes a file atomically, with mode 600: a crash leaves no partial file. With `exclusive`, an existing
 * file is not changed, and the result is false. Throws KeystoreError.
 */
async function writeWhole(
  path: string,
  text: string,
  { exclusive = false, owner, verify }: WriteOptions = {},
): Promise<boolean> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      if (owner) giveTo(owner, handle.fd);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    failpoint('keystore.written');
    await verify?.(temporary);
    failpoint('keystore.verified');
    if (exclusive) await link(temporary, path);
    else await rename(temporary, path);
    failpoint('keystore.replaced');
  } catch (error) {
    if (exclusive && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new KeystoreError(`${path}: cannot be written: ${(error as Error).message}`);
  } finally {
    await rm(temporary, { force: true });
  }
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return true;
}

function derive(secret: Buffer, info: string): SigningKey {
  const wide = BigInt(toHex(new Uint8Array(hkdfSync('sha256', secret, 'orgwallet/v1', info, 48))));
  const scalar = (wide % (CURVE_ORDER - 1n)) + 1n;
  const { address, sign } = privateKeyToAccount(toHex(scalar, { size: 32 }) as Hex);
  return { address, sign, signTransaction: (transaction) => signRawTransaction(sign, transaction) };
}

/** How many keys an open keystore keeps: computing an address costs a millisecond. */
const KEPT_KEYS = 1_000;

function unlocked(secret: Buffer): Keystore {
  // Secrets live in this closure only: there is no property, and so no log or message, that could show them.
  const kept = new Map<string, SigningKey>();
  const keyOf = (info: string): SigningKey => {
    const known = kept.get(info);
    if (known) return known;
    const key = derive(secret, info);
    if (kept.size >= KEPT_KEYS) kept.clear();
    kept.set(info, key);
    return key;
  };
  return Object.freeze({
    fingerprint: fingerprintOf(secret),
    organizationKey: (organizationId: string) => keyOf(`orgwallet/organization/${organizationId}`),
    sealKey: (organizationId: string) => keyOf(`orgwallet/seal/${organizationId}`),
    relayerKey: (networkId: number, index: number) => keyOf(`orgwallet/relayer/${networkId}/${index}`),
  });
}

function readFile(path: string): KeystoreFile {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new KeystoreError(`${path}: cannot be read as a keystore: ${(error as Error).message}`);
  }
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) throw new KeystoreError(`${path}: is not a keystore of this version, or is damaged`);
  return parsed.data;
}

/** Throws KeystoreError for what is not a file, and when anybody but its owner may read or write it. */
function assertPrivate(path: string): void {
  const stats = statSync(path);
  if (!stats.isFile()) throw new KeystoreError(`${path}: is not a file`);
  const mode = stats.mode & 0o777;
  if ((mode & GROUP_AND_OTHERS) === 0) return;
  throw new KeystoreError(
    `${path}: its mode ${mode.toString(8)} lets others access it (expected 600). Run \`chmod 600 ${path}\``,
  );
}

/** Opens a keystore. Throws KeystoreError: not found, not private, damaged, changed, wrong passphrase. */
export async function openKeystore(options: { file: string; passphrase: string }): Promise<Keystore> {
  if (!existsSync(options.file)) throw new KeystoreError(`${options.file}: keystore not found`);
  assertPrivate(options.file);
  return unlocked(await decrypt(options.file, readFile(options.file), options.passphrase));
}

/**
 * Opens a keystore, or creates one with a new secret where there is none. `cost` of a new one is the N of scrypt
 * (RFC 7914), a power of 2. Throws KeystoreError.
 */
export async function createOrOpenKeystore(options: {
  file: string;
  passphrase: string;
  cost?: number;
}): Promise<Keystore> {
  const { file, passphrase, cost = SCRYPT.N } = options;
  if (existsSync(file)) return openKeystore(options);
  const secret = randomBytes(SECRET_BYTES);
  const text = `${JSON.stringify(await encrypt(secret, passphrase, cost), null, 2)}\n`;
  // The first writer wins: two processes that start at once must not use two secrets.
  const first = await writeWhole(file, text, { exclusive: true });
  return first ? unlocked(secret) : openKeystore(options);
}

/**
 * A passphrase from its setting or its file: of the keystore, or the new one. Throws KeystoreError when there is none, or it
 * is too short.
 */
export function readPassphrase(
  { passphrase, passphraseFile }: { passphrase?: string | undefined; passphraseFile?: string | undefined },
  name: 'KEYSTORE_PASSPHRASE' | 'NEW_KEYSTORE_PASSPHRASE' = 'KEYSTORE_PASSPHRASE',
): string {
  let text: string | undefined;
  try {
    text = readSecret({ [name]: passphrase, [`${name}_FILE`]: passphraseFile }, name);
  } catch (error) {
    throw new KeystoreError((error as Error).message);
  }
  if (text === undefined) {
    throw new KeystoreError(`${name} or ${name}_FILE must be set: the signer cannot open its keys`);
  }
  if ([...text.normalize('NFKC')].length >= MIN_PASSPHRASE_CHARACTERS) return text;
  const source = passphraseFile ? `${name}_FILE: the text in ${passphraseFile}` : `${name}:`;
  throw new KeystoreError(`${source} must have at least ${MIN_PASSPHRASE_CHARACTERS} characters`);
}

/**
 * Encrypts a keystore with another passphrase, in place of the file, with the same keys. The new file is written beside it
 * and opened with the new passphrase before it takes its place: whatever ends the process, there is one whole file, which
 * opens with one of both. A link stays one, and the file that it names keeps its owner. False where it has the new passphrase
 * already. Throws KeystoreError.
 */
export async function changePassphrase(
  file: string,
  { from, to, cost = SCRYPT.N }: { readonly from: string; readonly to: string; readonly cost?: number },
): Promise<{ readonly fingerprint: string; readonly isChanged: boolean }> {
  if (!existsSync(file)) throw new KeystoreError(`${file}: keystore not found`);
  assertPrivate(file);
  const present = readFile(file);
  const { fingerprint } = present;
  // A process that was ended right after the change has not said so.
  if (await opensWith(file, present, to)) return { fingerprint, isChanged: false };
  const secret = await decrypt(file, present, from);
  const text = `${JSON.stringify(await encrypt(secret, to, cost), null, 2)}\n`;
  const target = realpathSync(file);
  await writeWhole(target, text, {
    owner: statSync(target),
    async verify(written) {
      const opened = await decrypt(written, readFile(written), to);
      if (!opened.equals(secret)) throw new Error('what was written is another secret');
    },
  });
  return { fingerprint, isChanged: true };
}

async function opensWith(path: string, file: KeystoreFile, passphrase: string): Promise<boolean> {
  return decrypt(path, file, passphrase).then(
    () => true,
    () => false,
  );
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function backupMarker(file: string): string {
  return `${file}.backup.json`;
}

/** Copies the (encrypted) keystore to another file and records the backup. Throws KeystoreError when that file exists. */
export async function backupKeystore(
  file: string,
  to: string,
): Promise<{ fingerprint: string; file: string }> {
  const { fingerprint } = readFile(file);
  const text = readFileSync(file, 'utf8');
  const copied = await writeWhole(to, text, { exclusive: true });
  if (!copied) throw new KeystoreError(`${to}: exists already; a backup overwrites nothing`);
  const mark = { fingerprint, sha256: textHash(text), at: new Date().toISOString(), to };
  // The signer reads it.
  await writeWhole(backupMarker(file), `${JSON.stringify(mark)}\n`, { owner: statSync(file) });
  return { fingerprint, file: to };
}

/** When the keystore was last backed up as it is (ISO 8601), or null: an earlier one opens with another passphrase. */
export function lastBackup(file: string): string | null {
  try {
    const marker = JSON.parse(readFileSync(backupMarker(file), 'utf8'));
    return marker.sha256 === textHash(readFileSync(file, 'utf8')) ? marker.at : null;
  } catch {
    return null;
  }
}
