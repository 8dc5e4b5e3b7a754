import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

function parseAddress({ ip = '', socket }: Pick<Request, 'ip' | 'socket'>): string {
  const address = ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? '');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** The address at the other end of a connection. */
export function peerAddress(socket: Request['socket']): string {
  return parseAddress({ ip: '', socket });
}

/** The addresses of connections, parsed once. */
const peers = new WeakMap<Request['socket'], string>();

/**
 * The address of the caller, as far as trusted proxies report it; the peer's where they report something else. IPv4 in
 * IPv6 (`::ffff:1.2.3.4`) is IPv4.
 */
export function clientAddress(request: Pick<Request, 'ip' | 'socket' | 'headers'>): string {
  const { socket, headers } = request;
  if (headers['x-forwarded-for'] !== undefined) return parseAddress(request);
  const known = peers.get(socket);
  if (known !== undefined) return known;
  const peer = parseAddress(request);
  peers.set(socket, peer);
  return peer;
}

/** The caller that a failed authentication counts for: an IPv4 address, or the /64 network of an IPv6 address. */
export function callerNetwork(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${new ipaddr.IPv6([...parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

/** The bits that IPv4 in IPv6 has before its own (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

/** The network of a range (CIDR), and how many bits it has. IPv4 in IPv6 is IPv4. */
function readRange(range: string): readonly [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [network, bits] = ipaddr.parseCIDR(range);
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= MAPPED_BITS;
  return isMapped ? [network.toIPv4Address(), bits - MAPPED_BITS] : [network, bits];
}

/** Whether an address is in a range of addresses (CIDR). IPv4 in IPv6 is IPv4. */
export function isInRange(address: string, range: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const own = ipaddr.process(address);
  const [network, bits] = readRange(range);
  // The types do not say that two of one kind match.
  return own.kind() === network.kind() && (own as ipaddr.IPv6).match(network as ipaddr.IPv6, bits);
}
