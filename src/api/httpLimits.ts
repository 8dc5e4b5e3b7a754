import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { answerHeaders, requestIdOf } from './exchange';
import { badRequest, errorBodyOf, pathNotFound, Refused } from './refusals';

const MAX_CONNECTIONS = 5_000;
const SOCKET_IDLE_MS = 60_000;

/** Limits against slow clients and idle connections. */
export const HTTP_LIMITS: ServerOptions = {
  headersTimeout: 10_000,
  // Before the request times out: a body that comes too slowly is the caller's fault.
  requestTimeout: 20_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // The application refuses it, in JSON.
  requireHostHeader: false,
};

const PARSER_ERRORS: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: 'request headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request did not arrive in time',
};

/** Of every answer over TLS in production. */
export const STRICT_TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'] as const;

function bodyAndHeaders(
  refused: Refused,
  {
    socket,
    given,
    production,
  }: { socket: Duplex; given?: string | string[] | undefined; production: boolean },
) {
  const body = JSON.stringify(errorBodyOf(refused));
  const headers = {
    ...answerHeaders(requestIdOf(given)),
    ...(production && socket instanceof TLSSocket ? Object.fromEntries([STRICT_TRANSPORT_SECURITY]) : {}),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  return { body, headers };
}

/** Answers on a connection whose request could not be parsed: there is no response object. */
function answerOnSocket(socket: Duplex, refused: Refused, production: boolean): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { body, headers } = bodyAndHeaders(refused, { socket, production });
  const reason = { 400: 'Bad Request', 404: 'Not Found' }[refused.status] ?? 'Error';
  const lines = Object.entries(headers).map((header) => header.join(': '));
  socket.end([`HTTP/1.1 ${refused.status} ${reason}`, ...lines, '', body].join('\r\n'));
}

/** Limits the connections of a server, and answers in JSON what is not parsed into a request. */
export function limitHttp(server: Server, production: boolean): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(SOCKET_IDLE_MS);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Browsers and proxies connect in advance: what is sent before a request would be taken for the answer to their next one.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (isUnused || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const message = PARSER_ERRORS[error.code ?? ''] ?? 'malformed HTTP request';
    answerOnSocket(socket, new Refused({ code: 'validationError', message, field: 'request' }), production);
  });
  // Without a TLS session nothing can be answered.
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  server.on('connect', (_request, socket) => answerOnSocket(socket, pathNotFound(), production));
  server.on('checkExpectation', (request, response) => {
    const refused = badRequest([{ field: 'Expect', message: 'is not supported' }]);
    const given = request.headers['x-request-id'];
    const { body, headers } = bodyAndHeaders(refused, { socket: request.socket, given, production });
    response.writeHead(refused.status, headers).end(body);
  });
}
