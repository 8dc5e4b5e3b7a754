import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A secret that cannot be read; names the setting, and never shows the secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  constructor(
    readonly setting: string,
    readonly detail: string,
  ) {
    super(`${setting}: ${detail}`);
  }
}

/** The settings that are secrets: each is set itself, or in the file that the setting with `_FILE` added names. */
const SECRETS = [
  'DATABASE_URL',
  'SIGNER_DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'RECOVERY_DATABASE_URL',
  'DATABASE_LISTEN_URL',
  'TEMPORAL_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'SMTP_URL',
  'PRICES_URL',
] as const;

/** Passphrases are read where a keystore is opened, and nowhere else. */
export type Secret = (typeof SECRETS)[number] | 'KEYSTORE_PASSPHRASE' | 'NEW_KEYSTORE_PASSPHRASE';

const PASSPHRASES: ReadonlySet<Secret> = new Set(['KEYSTORE_PASSPHRASE', 'NEW_KEYSTORE_PASSPHRASE']);

type Settings = Readonly<Record<string, string | undefined>>;

/** Whether a secret is set, itself or by its file. */
export function hasSecret(settings: Settings, name: Secret): boolean {
  return Boolean(settings[name] || settings[`${name}_FILE`]);
}

/** Whether white space begins or ends a text: nobody sees it. */
export function hasOuterSpace(text: string): boolean {
  return text !== text.trim();
}

/** No secret is longer, in bytes. */
const MOST_BYTES = 65_536;
/** How long a pipe may take, such as that of `<(…)` in a shell. */
const PIPE_LIMIT_MS = 5_000;
const PAUSE_MS = 20;

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

/** Reads what there is; undefined where nothing is there yet. */
function readSome(descriptor: number, into: Buffer, at: number): number | undefined {
  try {
    return readSync(descriptor, into, at, into.length - at, null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** Reads a file or a pipe. Throws where it is longer than a secret, or is a pipe that nobody writes to in time. */
function readBytes(file: string): Buffer {
  // Otherwise a pipe that nobody writes to would keep the process from starting, without a word.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    const isPipe = fstatSync(descriptor).isFIFO();
    const deadline = performance.now() + PIPE_LIMIT_MS;
    for (let length = 0; ; ) {
      const read = readSome(descriptor, bytes, length);
      length += read ?? 0;
      if (length > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
      if (read === 0 && (length > 0 || !isPipe)) return bytes.subarray(0, length);
      if (read) continue;
      if (performance.now() >= deadline)
        throw new Error(`nothing came out of it within ${PIPE_LIMIT_MS / 1_000} s`);
      pause();
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes as text, without a byte order mark. Throws for bytes that are none, which would all become the same character. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not text (UTF-8)');
  }
}

/**
 * A secret, or undefined where it is not set; empty settings count as absent. Of a file, without the white space at its end; of
 * that of a passphrase, without one line break: blanks are part of it, as they are in its setting. Throws SecretError where
 * setting and file are both set, and for a file that cannot be read, is empty, is not text, or has several lines: it is another
 * one than was meant.
 */
export function readSecret(settings: Settings, name: Secret): string | undefined {
  const setting = `${name}_FILE`;
  const value = settings[name] || undefined;
  const file = settings[setting];
  if (!file) return value;
  if (value !== undefined) {
    throw new SecretError(setting, `is set beside ${name}: only one of them can be`);
  }
  let text: string;
  try {
    const whole = textOf(readBytes(file));
    text = PASSPHRASES.has(name) ? whole.replace(/\r?\n$/, '') : whole.trimEnd();
  } catch (error) {
    throw new SecretError(setting, `${file} cannot be read: ${(error as Error).message}`);
  }
  if (text.trim() === '') throw new SecretError(setting, `${file} is empty`);
  if (/[\r\n]/.test(text)) {
    throw new SecretError(setting, `${file} has several lines (expected one: the secret alone)`);
  }
  return text;
}

/**
 * Settings with every secret itself in place of its file, but for passphrases. Throws SecretError.
 */
export function withSecrets<S extends Settings>(settings: S): S {
  const all: Record<string, string | undefined> = { ...settings };
  for (const name of SECRETS) {
    const value = readSecret(settings, name);
    if (value !== undefined) all[name] = value;
    delete all[`${name}_FILE`];
  }
  return all as S;
}

/** Settings of a higher and of a lower rank: a secret of the higher takes the place of both settings of the lower. */
export function overriding(higher: Settings, lower: Settings): Record<string, string | undefined> {
  const isOverridden = (setting: string) => {
    const name = setting.endsWith('_FILE') ? setting.slice(0, -'_FILE'.length) : setting;
    return hasSecret(higher, name as Secret);
  };
  return { ...Object.fromEntries(Object.entries(lower).filter(([name]) => !isOverridden(name))), ...higher };
}
