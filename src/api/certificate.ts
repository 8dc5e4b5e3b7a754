import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:https';
import type { Logger } from 'pino';
import type { Config } from '../config';

const CHECK_EVERY_MS = 2_000;

/** Reads the certificate and its key. Throws when a file cannot be read. */
export function readCertificate({ certFile, keyFile }: Config['tls']) {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile), minVersion: 'TLSv1.2' } as const;
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
