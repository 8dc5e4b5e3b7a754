import fc from 'fast-check';
import { callerNetwork, clientAddress, isInRange } from '../../../src/api/clientAddress';
import { newApiKey } from '../../../src/contract/apiKeyContract';
import { anId } from '../../support/builders';

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

describe('a range of addresses', () => {
  it.each([
    ['203.0.113.9', '203.0.113.0/24', true],
    ['203.0.114.9', '203.0.113.0/24', false],
    ['::ffff:203.0.113.9', '203.0.113.0/24', true],
    ['203.0.113.9', '::ffff:cb00:7100/120', true],
    ['203.0.114.9', '::ffff:cb00:7100/120', false],
    ['203.0.113.9', '::/0', false],
    ['2001:db8::9', '0.0.0.0/0', false],
    ['2001:db8::9', '2001:db8::/32', true],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['', '0.0.0.0/0', false],
    ['unknown', '0.0.0.0/0', false],
  ])('with %s: is it in %s?', (caller, range, expected) => {
    expect(isInRange(caller, range)).toBe(expected);
  });

  it('that a key is issued with can be read', () => {
    const key = { name: 'Payroll', memberIds: [anId('mem')], scopes: ['read'] };
    const isIssued = (range: string) => newApiKey.safeParse({ ...key, addressRanges: [range] }).success;
    const embedded = ['::1.2.3.4/96', '64:ff9b::1.2.3.4/96', '::ffff:1.2.3.4/120', '1:2:3:4:5:6:1.2.3.4/128'];
    const range = fc.oneof(
      fc.constantFrom(...embedded, '::/0', '2001:DB8::/32', '010.0.0.0/8', '1.2.3.4/08', 'fe80::1%eth0/64'),
      fc
        .tuple(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), fc.nat(140))
        .map((parts) => parts.join('/')),
    );
    fc.assert(
      fc.property(range, (text) => {
        if (isIssued(text)) isInRange('203.0.113.9', text);
      }),
      { numRuns: 2_000 },
    );
    expect(embedded.filter(isIssued)).toEqual([]);
    const readable = ['203.0.113.0/24', '2001:db8::/32', '::ffff:cb00:7100/120'];
    expect(readable.filter(isIssued)).toEqual(readable);
  });
});
