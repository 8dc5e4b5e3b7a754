import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { chainEnd } from '../../src/certificates';

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 825;
const RENEW_BEFORE_DAYS = 30;

function isUsable(certFile: string, keyFile: string): boolean {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  try {
    const leftMs = chainEnd(readFileSync(certFile, 'utf8')).getTime() - Date.now();
    return leftMs > RENEW_BEFORE_DAYS * DAY_MS;
  } catch {
    return false;
  }
}

function writeWhole(file: string, text: string, mode: number): void {
  writeFileSync(`${file}.new`, text, { mode });
  renameSync(`${file}.new`, file);
}

/**
 * Creates a certificate for localhost, 127.0.0.1 and ::1 unless there is one that is valid for 30 more days.
 * It is self-signed: a client trusts the file as its CA.
 */
export async function ensureCertificate(certFile: string, keyFile: string): Promise<void> {
  if (isUsable(certFile, keyFile)) return;
  mkdirSync(dirname(certFile), { recursive: true, mode: 0o700 });
  // Loaded when it is needed: this process goes on for as long as the service.
  const { generate }: typeof import('selfsigned') = require('selfsigned');
  const now = Date.now();
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + LIFETIME_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  writeWhole(keyFile, pems.private, 0o600);
  writeWhole(certFile, pems.cert, 0o644);
}
