import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
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

describe('TLS 1.2', () => {
  const tls = makeCertificate();
  let server: Server;

  beforeAll(async () => {
    server = createServer(readCertificate(await tls)).listen(0, '127.0.0.1');
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    rmSync(dirname((await tls).certFile), { recursive: true });
  });

  async function connectWith(options: ConnectionOptions): Promise<TLSSocket> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    await once(socket, 'secureConnect');
    return socket;
  }
  const oldest = { maxVersion: 'TLSv1.2' } as const;

  it.each(
    ['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA384', 'AES128-GCM-SHA256', 'AES256-SHA'].flatMap((rsa) => [
      rsa,
      rsa.replace('-RSA-', '-ECDSA-'),
    ]),
  )('is not spoken with %s', async (ciphers) => {
    await expect(connectWith({ ...oldest, ciphers })).rejects.toThrow(/handshake|reset|disconnected/i);
  });

  it('has authenticated encryption, and TLS 1.3 is there', async () => {
    const two = await connectWith(oldest);
    expect([two.getProtocol(), two.getCipher().name]).toEqual([
      'TLSv1.2',
      expect.stringMatching(/^ECDHE-.*(GCM|POLY1305)/),
    ]);
    two.destroy();
    const three = await connectWith({});
    expect(three.getProtocol()).toBe('TLSv1.3');
    three.destroy();
  });

  it('is not negotiated anew', async () => {
    const socket = await connectWith(oldest);
    const failed = new Promise<string>((resolve) => {
      socket.on('error', (error) => resolve(error.message));
      socket.on('close', () => resolve('closed'));
    });
    const renegotiated = new Promise((resolve) =>
      socket.renegotiate({ rejectUnauthorized: false }, (error) => resolve(error === null ? 'yes' : 'no')),
    );
    expect(await Promise.race([failed, renegotiated])).not.toBe('yes');
    socket.destroy();
  });
});
