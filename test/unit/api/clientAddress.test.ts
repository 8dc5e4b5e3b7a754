import { callerNetwork, clientAddress } from '../../../src/api/clientAddress';

const address = (ip: string | undefined, remoteAddress: string | undefined) =>
  clientAddress({ ip, socket: { remoteAddress }, headers: {} } as Parameters<typeof clientAddress>[0]);

describe('the address of a caller', () => {
  it.each([
    ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['2001:DB8:0::1', '10.0.0.1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['203.0.113.9:4711', '::ffff:10.0.0.1', '10.0.0.1'],
    ['unknown', '10.0.0.1', '10.0.0.1'],
    [undefined, undefined, ''],
  ])('reported as %s by %s is %s', (ip, remoteAddress, expected) => {
    expect(address(ip, remoteAddress)).toBe(expected);
  });
});

test('a connection has the address of its peer, and what a proxy reports is read anew for each request', () => {
  const socket = { remoteAddress: '10.0.0.1' };
  const of = (ip: string, headers = {}) =>
    clientAddress({ ip, socket, headers } as Parameters<typeof clientAddress>[0]);
  const forwarded = { 'x-forwarded-for': 'whatever is trusted' };
  expect(of('203.0.113.9', forwarded)).toBe('203.0.113.9');
  expect(of('10.0.0.1')).toBe('10.0.0.1');
  expect(of('203.0.113.10', forwarded)).toBe('203.0.113.10');
  expect(of('10.0.0.1')).toBe('10.0.0.1');
});

describe('the network that failures are counted against', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8::/64'],
    ['::1', '::/64'],
    ['', ''],
  ])('of %p is %s', (caller, expected) => {
    expect(callerNetwork(caller)).toBe(expected);
  });
});
