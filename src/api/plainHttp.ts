import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/** The first byte of a TLS connection: a record of type handshake (RFC 8446, section 5.1). */
const TLS_HANDSHAKE = 22;
const FIRST_BYTE_TIMEOUT_MS = 10_000;

/** Connections that have sent nothing yet, which no server counts as its own. */
export interface SilentConnections {
  destroyAll(): void;
}

/**
 * Makes an HTTPS server pass every connection that does not begin with a TLS handshake to a plain HTTP server, so
 * that plain HTTP on the TLS port is answered and not reset. A connection that sends nothing for 10 seconds is closed.
 */
export function passPlainHttp(http: HttpServer, https: HttpsServer): SilentConnections {
  const [startTls] = https.listeners('connection');
  if (!startTls) throw new Error('the HTTPS server has no listener for connections');
  const silent = new Set<Socket>();
  https.removeAllListeners('connection');
  https.on('connection', (socket: Socket) => {
    const read = () => {
      const bytes: Buffer | null = socket.read();
      // It has ended, and closes.
      if (bytes === null) return;
      forget();
      socket.setTimeout(0);
      socket.off('readable', read).off('timeout', end).off('error', end).off('close', forget);
      socket.unshift(bytes);
      if (bytes[0] === TLS_HANDSHAKE) startTls.call(https, socket);
      else http.emit('connection', socket);
    };
    const end = () => socket.destroy();
    const forget = () => silent.delete(socket);
    silent.add(socket);
    socket.setTimeout(FIRST_BYTE_TIMEOUT_MS);
    socket.on('readable', read).on('timeout', end).on('error', end).on('close', forget);
  });
  return {
    destroyAll() {
      for (const socket of silent) socket.destroy();
    },
  };
}
