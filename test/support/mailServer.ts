import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as a server got it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By their names in lower case, as they were sent, without folding. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly subject: string;
  readonly text: string;
}

/** A real mail server, which keeps what it gets. */
export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  stop(): Promise<void>;
}

/** Encoded words of a header. Source: RFC 2047. */
function decodedWords(text: string): string {
  const decode = (encoding: string, word: string) =>
    encoding.toUpperCase() === 'B'
      ? Buffer.from(word, 'base64')
      : Buffer.from(unquoted(word.replaceAll('_', ' ')), 'latin1');
  const pattern = /=\?utf-8\?([bq])\?([^?]*)\?=\s*/gi;
  const joined = text.replace(pattern, (_, encoding, word) => decode(encoding, word).toString('latin1'));
  return joined === text ? text : Buffer.from(joined, 'latin1').toString('utf8');
}

const unquoted = (text: string) =>
  text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

function readMail(source: Buffer, from: string, to: readonly string[]): ReceivedMail {
  const raw = source.toString('latin1');
  const end = raw.indexOf('\r\n\r\n');
  const headers = new Map<string, string[]>();
  for (const line of raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  const body = raw.slice(end + 4);
  const encoding = headers.get('content-transfer-encoding')?.[0] ?? '7bit';
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : Buffer.from(encoding === 'quoted-printable' ? unquoted(body) : body, 'latin1');
  return {
    from,
    to,
    headers,
    subject: decodedWords(headers.get('subject')?.[0] ?? ''),
    text: bytes.toString('utf8').replaceAll('\r\n', '\n'),
  };
}

/** Starts a mail server on this machine. By default it takes everything, without TLS and a login. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push(readMail(Buffer.concat(chunks), from, to));
        callback();
      });
    },
    ...options,
  });
  // A client that refuses its certificate ends the connection.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
