import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { readCertificate, watchCertificate } from '../../../src/api/certificate';
import { createLogger } from '../../../src/logging';
import { ensureCertificate } from '../../../tools/dev/certificate';
import { until } from '../../support/until';

async function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'orgwallet-certificate-'));
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  await ensureCertificate(tls.certFile, tls.keyFile);
  return { ...tls, fingerprint: new X509Certificate(readFileSync(tls.certFile)).fingerprint256 };
}

function replace(file: string, other: string): void {
  writeFileSync(`${file}.new`, readFileSync(other));
  renameSync(`${file}.new`, file);
}

it('is used for new connections once it was renewed, and never with the key of another', async () => {
  const [old, renewed] = [await makeCertificate(), await makeCertificate()];
  const server = createServer(readCertificate(old)).listen(0, '127.0.0.1');
  const stop = watchCertificate(server, old, createLogger('silent'));
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const shown = async () => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    expect(await shown()).toBe(old.fingerprint);
    replace(old.certFile, renewed.certFile);
    expect(await shown()).toBe(old.fingerprint);
    replace(old.keyFile, renewed.keyFile);
    await until('the renewed certificate is shown', async () => (await shown()) === renewed.fingerprint);
  } finally {
    stop();
    server.close();
    for (const { certFile } of [old, renewed]) rmSync(dirname(certFile), { recursive: true });
  }
});
