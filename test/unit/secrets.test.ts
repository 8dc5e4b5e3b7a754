import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSecret, SecretError } from '../../src/secrets';

const dir = mkdtempSync(join(tmpdir(), 'orgwallet-secrets-'));
afterAll(() => rmSync(dir, { recursive: true }));

let files = 0;
const pathOf = () => {
  files += 1;
  return join(dir, `secret-${files}`);
};
const fileOf = (content: string | Buffer) => {
  const file = pathOf();
  writeFileSync(file, content);
  return file;
};
const pipe = () => {
  const file = pathOf();
  execFileSync('mkfifo', [file]);
  return file;
};
const read = (file: string) => readSecret({ KEYSTORE_PASSPHRASE_FILE: file }, 'KEYSTORE_PASSPHRASE');
function refusalOf(file: string): string {
  try {
    read(file);
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
  throw new Error('it was read');
}

describe('a file with a secret', () => {
  it('is the same text with line ends of any system, and with a byte order mark', () => {
    for (const text of ['correct horse', 'correct horse\n', 'correct horse\r\n', '\uFEFFcorrect horse\r\n']) {
      expect(read(fileOf(text))).toBe('correct horse');
    }
  });

  it('is refused where it is not text: different bytes would be the same secret', () => {
    for (const bytes of [Buffer.from([0x61, 0xff, 0xfe, 0x62]), Buffer.from('correct horse', 'utf16le')]) {
      const file = fileOf(Buffer.concat([Buffer.from([0xff, 0xfe]), bytes]));
      expect(refusalOf(file)).toBe(
        `KEYSTORE_PASSPHRASE_FILE: ${file} cannot be read: it is not text (UTF-8)`,
      );
    }
  });

  it('is refused where it is too long, or has no end', () => {
    expect(read(fileOf('x'.repeat(65_536)))).toHaveLength(65_536);
    for (const file of [fileOf('x'.repeat(65_537)), fileOf('x'.repeat(10_000_000)), '/dev/zero']) {
      expect(refusalOf(file)).toBe(
        `KEYSTORE_PASSPHRASE_FILE: ${file} cannot be read: it has more than 65536 bytes`,
      );
    }
  });

  it('is refused where it is a folder, empty, or several lines', () => {
    const folder = pathOf();
    mkdirSync(folder);
    expect(refusalOf(folder)).toMatch(/cannot be read: EISDIR/);
    for (const text of ['', '\n', '\r\n', '\uFEFF']) expect(refusalOf(fileOf(text))).toMatch(/is empty$/);
    expect(refusalOf(fileOf('one\ntwo\n'))).toMatch(/has several lines/);
  });

  it('may be a pipe, whose writer may be slow', () => {
    const file = pipe();
    const writer = spawn('sh', ['-c', `sleep 0.3; (printf 'correct '; sleep 0.3; echo horse) > '${file}'`]);
    expect(read(file)).toBe('correct horse');
    writer.kill();
  });

  it('is refused where it is a pipe that nobody writes to, and keeps nothing from starting', () => {
    const file = pipe();
    expect(refusalOf(file)).toBe(
      `KEYSTORE_PASSPHRASE_FILE: ${file} cannot be read: nothing came out of it within 5 s`,
    );
  });
});
