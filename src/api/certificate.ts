import { constants } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:https';
import type { Logger } from 'pino';
import type { Config } from '../config';

const CHECK_EVERY_MS = 2_000;

/** TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption (RFC 9325, section 4.2). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  ...['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((suite) => [
    `ECDHE-ECDSA-${suite}`,
    `ECDHE-RSA-${suite}`,
  ]),
].join(':');

/** Reads the certificate and its key, and how TLS is spoken with them. Throws when a file cannot be read. */
export function readCertificate({ certFile, keyFile }: Config['tls']) {
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    // Each renegotiation costs the server more than its client.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}

/**
 * Has a server use a certificate that was renewed, for new connections. While the files do not fit each other it keeps the one
 * that it has. Returns what ends this.
 */
export function watchCertificate(server: Server, tls: Config['tls'], logger: Logger): () => void {
  const renew = () => {
    try {
      server.setSecureContext(readCertificate(tls));
      logger.info({ file: tls.certFile }, 'the certificate was renewed');
    } catch (error) {
      logger.warn(
        { err: error, file: tls.certFile },
        'the new certificate cannot be used; the previous one stays in use',
      );
    }
  };
  const files = [tls.certFile, tls.keyFile];
  for (const file of files) watchFile(file, { interval: CHECK_EVERY_MS, persistent: false }, renew);
  return () => {
    for (const file of files) unwatchFile(file, renew);
  };
}
