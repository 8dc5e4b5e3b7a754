import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { callerNetwork, peerAddress } from './clientAddress';
import { exchangeOf } from './exchange';
import { Refused } from './refusals';

/** Counts what callers have open, by the network of their address. */
function createCounter(most: number) {
  const open = new Map<string, number>();
  return {
    /** Counts one more; undefined where there are as many as there may be. Returns what ends it. */
    take(address: string): (() => void) | undefined {
      const network = callerNetwork(address);
      const count = open.get(network) ?? 0;
      if (count >= most) return undefined;
      open.set(network, count + 1);
      return () => {
        const left = (open.get(network) ?? 1) - 1;
        if (left === 0) open.delete(network);
        else open.set(network, left);
      };
    },
  };
}

/**
 * Closes every connection of an address that has so many already. The connections of trusted proxies are not counted: they are
 * those of many callers, whose requests are (`limitForwarded`).
 */
export function limitConnections(
  servers: readonly Server[],
  most: number,
  isTrusted: (address: string) => boolean,
): void {
  const counter = createCounter(most);
  // A connection without TLS to the TLS port is passed to the other server.
  const counted = new WeakSet<Socket>();
  const limit = (socket: Socket) => {
    const address = peerAddress(socket);
    if (counted.has(socket) || isTrusted(address)) return;
    counted.add(socket);
    const release = counter.take(address);
    if (release) socket.once('close', release);
    else socket.destroy();
  };
  for (const server of servers) server.prependListener('connection', limit);
}

/** Refuses with 429 the requests of a caller behind a trusted proxy that has so many in progress. */
export function limitForwarded(most: number): (request: Request, response: Response) => void {
  const counter = createCounter(most);
  return (request, response) => {
    const { client } = exchangeOf(response);
    if (request.headers['x-forwarded-for'] === undefined || client === peerAddress(request.socket)) return;
    const release = counter.take(client);
    if (!release) {
      throw new Refused(
        { code: 'rateLimited', message: `more than ${most} requests of this address are in progress` },
        { headers: { 'Retry-After': '1' } },
      );
    }
    response.once('close', release);
  };
}
