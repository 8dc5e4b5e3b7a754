import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** A name has no address, or no name server answers. The message has the name and what to do. */
export class UnresolvedHost extends Error {
  override readonly name = 'UnresolvedHost';
}

/** Reads every address of a host: of a name its A and AAAA records. Throws UnresolvedHost. */
export type ReadHostAddresses = (host: string) => Promise<HostAddress[]>;

const QUERY_MS = 3_000;
const TRIES = 2;
/** What c-ares answers where a name, or a record of it, does not exist. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

const LOOPBACK: readonly HostAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The address that a URL's host is itself; undefined for a name. */
export function literalAddress(host: string): HostAddress | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  return family === 0 ? undefined : { address, family: family as 4 | 6 };
}

/**
 * Reads addresses from name servers: those of this machine by default, else `servers` (`address:port`). They are asked themselves,
 * not through getaddrinfo, which a name server that hangs would keep from everything else that this process resolves. So
 * /etc/hosts and search domains do not count.
 */
export function createHostAddresses(servers?: readonly string[]): ReadHostAddresses {
  return async (host) => {
    const given = literalAddress(host);
    if (given) return [given];
    // RFC 6761, section 6.3: whatever a name server says.
    if (/(^|\.)localhost\.?$/i.test(host)) return [...LOOPBACK];
    // A new one each time: it reads /etc/resolv.conf once.
    const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [v4, v6].flatMap((answer, n) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address): HostAddress => ({ address, family: n === 0 ? 4 : 6 }))
        : [],
    );
    if (found.length > 0) return found;
    const codes = [v4, v6].map((answer) => (answer as PromiseRejectedResult).reason?.code);
    if (codes.every((code) => ABSENT.has(code))) throw new UnresolvedHost(`${host} does not resolve`);
    throw new UnresolvedHost(`${host} cannot be resolved now (${codes.find((code) => !ABSENT.has(code))})`);
  };
}
