import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * IPv4 that is not globally reachable, and what it is. Source: the IANA IPv4 Special-Purpose Address Registry (RFC 6890), and
 * the address at which Azure answers its virtual machines.
 */
const SPECIAL_V4 = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared by carriers'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'metadata'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignment'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
] as const;

/** Global unicast is all that IANA has assigned of IPv6 (RFC 4291, section 2.4); of it, these parts are special. */
const GLOBAL_V6 = '2000::/3';
const SPECIAL_V6 = [
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'protocol assignment'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
  ['::1/128', 'loopback'],
  ['::/128', 'unspecified'],
  ['64:ff9b:1::/48', 'local NAT64'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
] as const;

/** IPv6 that a host or a translator sends on as IPv4: RFC 4291, section 2.5.5.2, and RFC 6052, section 2.1. */
const EMBEDDED_V4 = rangesOf(['::ffff:0:0/96', '64:ff9b::/96']);

/** CIDR ranges as one list. Throws Error for an invalid range. */
function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = ipaddr.parseCIDR(range);
    list.addSubnet(network.toString(), bits, network.kind());
  }
  return list;
}

type Range = readonly [range: string, name: string];

const namesOf = (ranges: readonly Range[]) =>
  ranges.map(([range, name]) => ({ name, list: rangesOf([range]) }));
const SPECIAL = { ipv4: namesOf(SPECIAL_V4), ipv6: namesOf(SPECIAL_V6) };
const GLOBAL = { ipv4: rangesOf(['0.0.0.0/0']), ipv6: rangesOf([GLOBAL_V6]) };

/** The IPv4 address that is meant by an IPv6 address of a translator; the address itself where there is none. */
function meantBy(address: string): string {
  if (isIP(address) !== 6 || !EMBEDDED_V4.check(address, 'ipv6')) return address;
  // As hexadecimal: the parser does not know a dotted end behind every prefix.
  const { hostname } = new URL(`http://[${address}]/`);
  return ipaddr.parse(hostname.slice(1, -1)).toByteArray().slice(-4).join('.');
}

/** Says of an address why nothing is sent to it; undefined where it may be. */
export type AddressGuard = (address: string) => string | undefined;

/** Refuses every address that is not globally reachable, unless a range of `allowed` (CIDR) has it. Throws Error for a bad range. */
export function createAddressGuard(allowed: readonly string[]): AddressGuard {
  const allowedRanges = rangesOf(allowed);
  return (address) => {
    const meant = meantBy(address.replace(/%.*$/, ''));
    const version = isIP(meant);
    if (version === 0) return `${address} is not an IP address`;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (allowedRanges.check(meant, family)) return undefined;
    const special = SPECIAL[family].find(({ list }) => list.check(meant, family))?.name;
    const name = special ?? (GLOBAL[family].check(meant, family) ? undefined : 'not global');
    if (name === undefined) return undefined;
    return `${address} is not a public address (${name})`;
  };
}
