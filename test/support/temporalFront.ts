import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate, type SelfsignedOptions } from 'selfsigned';
import { temporaryDir } from './stack';

/** What stands before a Temporal server, as in production: TLS ends here, and credentials are checked here. */
interface TemporalFront {
  /** The settings of a caller. */
  readonly settings: NodeJS.ProcessEnv;
  /** Accepts no API key but this one, from the next call on. */
  acceptKey(key: string): void;
  /** Closes the connections of all callers, who have to present their certificates again. */
  disconnect(): void;
  close(): Promise<void>;
}

const UNAUTHENTICATED = '16';
const { NGHTTP2_FLAG_END_STREAM, HTTP2_HEADER_STATUS } = constants;

/** Passes one call on, with its trailers. */
function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, server: ClientHttp2Session): void {
  const { authorization: _, ...passed } = headers;
  const call = server.request(passed);
  let trailers: IncomingHttpHeaders = {};
  call.on('response', (answer, flags) => {
    // An error is often a response without anything else.
    if (flags & NGHTTP2_FLAG_END_STREAM) return stream.respond(answer, { endStream: true });
    stream.respond(answer, { waitForTrailers: true });
    call.pipe(stream);
  });
  call.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.pipe(call);
  call.on('error', () => stream.close());
  call.on('close', () => call.rstCode !== 0 && stream.close());
  stream.on('error', () => call.close());
  stream.on('close', () => call.close());
}

const KEYS = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** A certificate and its key, PEM. */
interface Certificate {
  readonly cert: string;
  readonly key: string;
}

async function createCertificate(
  name: string,
  options: Pick<SelfsignedOptions, 'ca' | 'extensions' | 'notAfterDate'>,
): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...KEYS,
    ...options,
  });
  return { cert, key };
}

/**
 * Starts a front before the server at `address`, with certificates of a CA of its own. `expiry`: callers have to present the
 * client certificate, which expires then; `key`: the API key that they have to send.
 */
export async function startTemporalFront(
  address: string,
  { expiry, key }: { readonly expiry?: Date; readonly key?: string },
): Promise<TemporalFront> {
  const ca = await createCertificate('Test CA', {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const own = await createCertificate('localhost', {
    ca,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const caller = expiry
    ? await createCertificate('orgwallet', {
        ca,
        notAfterDate: expiry,
        extensions: [{ name: 'extKeyUsage', clientAuth: true }],
      })
    : undefined;
  let accepted = key;
  const server = connect(`http://${address}`);
  server.on('error', () => undefined);
  const front = createSecureServer({
    ...own,
    ...(caller ? { requestCert: true, rejectUnauthorized: true, ca: ca.cert } : {}),
  });
  const sessions = new Set<Http2Session>();
  front.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session)).on('error', () => undefined);
  });
  front.on('stream', (stream, headers) => {
    if (accepted === undefined || headers.authorization === `Bearer ${accepted}`) {
      pass(stream, headers, server);
      return;
    }
    stream.respond(
      {
        [HTTP2_HEADER_STATUS]: 200,
        'content-type': 'application/grpc',
        'grpc-status': UNAUTHENTICATED,
        'grpc-message': 'Request unauthorized.',
      },
      { endStream: true },
    );
  });
  front.listen(0, 'localhost');
  await once(front, 'listening');
  const dir = temporaryDir();
  const write = (name: string, text: string) => {
    const file = join(dir, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return {
    settings: {
      TEMPORAL_ADDRESS: `localhost:${(front.address() as AddressInfo).port}`,
      TEMPORAL_TLS_CA_FILE: write('ca.pem', ca.cert),
      TEMPORAL_API_KEY: key,
      ...(caller
        ? {
            TEMPORAL_TLS_CERT_FILE: write('client.pem', caller.cert),
            TEMPORAL_TLS_KEY_FILE: write('client-key.pem', caller.key),
          }
        : {}),
    },
    acceptKey(next) {
      accepted = next;
    },
    disconnect() {
      for (const session of sessions) session.destroy();
    },
    async close() {
      for (const session of sessions) session.destroy();
      server.destroy();
      front.close();
    },
  };
}
