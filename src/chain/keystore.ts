import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Hex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { canonicalJson } from '../domain/canonicalJson';
import { type Keystore, KeystoreError, type SigningKey } from './keys';

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
    throw new KeystoreError(
      `${path}: cannot be decrypted: the passphrase is wrong, or the file is damaged or changed`,
    );
  }
}

/**
 * Writes a file atomically, with mode 600: a crash leaves no partial file. With `exclusive`, an existing
 * file is not changed, and the result is false.
 */
async function writeWhole(path: string, text: string, exclusive = false): Promise<boolean> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (exclusive) await link(temporary, path);
    else await rename(temporary, path);
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
  const { address, sign, signTypedData, signTransaction } = privateKeyToAccount(
    toHex(scalar, { size: 32 }) as Hex,
  );
  return { address, sign, signTypedData, signTransaction };
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

/** Throws KeystoreError when anybody but its owner may read or write the file. */
function assertPrivate(path: string): void {
  const mode = statSync(path).mode & 0o777;
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
  const first = await writeWhole(file, text, true);
  return first ? unlocked(secret) : openKeystore(options);
}

function readPassphraseFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new KeystoreError(`KEYSTORE_PASSPHRASE_FILE: ${(error as Error).message}`);
  }
  if (text === '') throw new KeystoreError(`KEYSTORE_PASSPHRASE_FILE: ${file} is empty`);
  return text;
}

/** The passphrase from its setting or its file. Throws KeystoreError when there is none, or it is too short. */
export function readPassphrase(settings: { passphrase?: string; passphraseFile?: string }): string {
  const { passphrase, passphraseFile } = settings;
  if (passphrase === undefined && passphraseFile === undefined) {
    throw new KeystoreError(
      'KEYSTORE_PASSPHRASE or KEYSTORE_PASSPHRASE_FILE must be set: the signer cannot open its keys',
    );
  }
  const text = passphrase ?? readPassphraseFile(passphraseFile ?? '');
  if ([...text.normalize('NFKC')].length >= MIN_PASSPHRASE_CHARACTERS) return text;
  const source =
    passphrase === undefined
      ? `KEYSTORE_PASSPHRASE_FILE: the text in ${passphraseFile}`
      : 'KEYSTORE_PASSPHRASE:';
  throw new KeystoreError(`${source} must have at least ${MIN_PASSPHRASE_CHARACTERS} characters`);
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
  const copied = await writeWhole(to, readFileSync(file, 'utf8'), true);
  if (!copied) throw new KeystoreError(`${to}: exists already; a backup overwrites nothing`);
  await writeWhole(
    backupMarker(file),
    `${JSON.stringify({ fingerprint, at: new Date().toISOString(), to })}\n`,
  );
  return { fingerprint, file: to };
}

/** When the keystore was last backed up (ISO 8601), or null when never. */
export function lastBackup(file: string): string | null {
  try {
    const marker = JSON.parse(readFileSync(backupMarker(file), 'utf8'));
    return marker.fingerprint === readFile(file).fingerprint ? marker.at : null;
  } catch {
    return null;
  }
}
