import { request } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Answer, Listener } from './http';
import type { TestService } from './service';

/** Sends one request without TLS: to the plain port unless the TLS port is named. */
export function sendPlain(
  service: TestService,
  ask: { method?: string; path: string; headers?: Record<string, string>; body?: string; port?: number },
  listener: Listener = () => undefined,
): Promise<Answer> {
  const { method = 'GET', path, headers = {}, body, port = service.config.httpPort } = ask;
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent: false, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const answer: Answer = {
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: text === '' ? undefined : JSON.parse(text),
        };
        try {
          listener({ method, path }, answer);
          resolve(answer);
        } catch (error) {
          reject(error);
        }
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A connection on which a test writes what it likes. */
interface RawConnection {
  write(data: string | Buffer): void;
  /** Everything that came until the other side closed. */
  readonly closed: Promise<string>;
  /** Sends no more, and goes on receiving. */
  finish(): void;
  end(): void;
}

/** Opens a connection to the API: with TLS, to the plain port, or without TLS to the TLS port. */
export function openConnection(
  service: TestService,
  kind: 'tls' | 'plain' | 'plain on the TLS port',
): RawConnection {
  const { httpsPort, httpPort } = service.config;
  const port = kind === 'plain' ? httpPort : httpsPort;
  const socket: Socket =
    kind === 'tls'
      ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
      : connectPlain({ host: '127.0.0.1', port, noDelay: true });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('utf8');
  });
  socket.on('error', () => undefined);
  return {
    write: (data) => {
      socket.write(data);
    },
    closed: new Promise((resolve) => socket.once('close', () => resolve(text))),
    finish: () => {
      socket.end();
    },
    end: () => {
      socket.destroy();
    },
  };
}

/** Takes an answer apart that was read off a connection. */
export function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const body = rest.join('\r\n\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    ),
    text: body,
    body: body.startsWith('{') ? JSON.parse(body) : undefined,
  };
}
