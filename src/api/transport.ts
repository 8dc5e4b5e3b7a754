import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** How a request came: over TLS or not, and from whom. */
export interface Transport {
  readonly secure: boolean;
  /** Address of the caller, as far as trusted proxies tell. */
  readonly clientAddress: string;
}

/** IPv4 in IPv6 (`::ffff:1.2.3.4`) is IPv4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** A list of addresses and CIDR blocks. Throws a RangeError that names the entry that is neither. */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const longest = family === 'ipv6' ? 128 : 32;
    const prefix = bits === undefined ? longest : Number(bits);
    if (isIP(address) === 0 || rest.length > 0 || !/^\d+$/.test(bits ?? '0') || prefix > longest) {
      throw new RangeError(`TRUSTED_PROXIES: ${entry} is neither an address nor a CIDR block`);
    }
    list.addSubnet(address, prefix, family);
  }
  return (address) => {
    const plain = plainAddress(address);
    if (isIP(plain) === 0) return false;
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

function headerList(value: string | string[] | undefined): string[] {
  return String(value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Tells how requests came. What proxies say counts only when they are trusted. */
export function createTransportReader(trustedProxies: readonly string[]) {
  const trusted = addressList(trustedProxies);
  return (request: IncomingMessage): Transport => {
    const peer = plainAddress(request.socket.remoteAddress ?? '');
    const encrypted = (request.socket as TLSSocket).encrypted === true;
    if (!trusted(peer)) return { secure: encrypted, clientAddress: peer };
    const protocols = headerList(request.headers['x-forwarded-proto']);
    const secure = protocols.length === 0 ? encrypted : protocols.every((protocol) => protocol === 'https');
    // Each proxy appends whom it heard from: the last one that is no proxy of ours is the caller.
    const callers = headerList(request.headers['x-forwarded-for']).map(plainAddress).reverse();
    const caller = callers.find((address) => isIP(address) !== 0 && !trusted(address));
    return { secure, clientAddress: caller ?? peer };
  };
}

/** Whom failures are counted against: an IPv4 address, or the /64 network that an IPv6 address is in. */
export function callerNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
