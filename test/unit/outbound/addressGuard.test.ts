import fc from 'fast-check';
import { createAddressGuard } from '../../../src/outbound/addressGuard';

const guard = createAddressGuard([]);

const REFUSED = [
  ...[
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
  ],
  ...[
    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.0.1',
    '198.18.0.1',
  ],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    'fec0::1',
    '100::1',
    '5f00::1',
  ],
  ...['2001:db8::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:20::1', '3fff::1'],
  // the same, wrapped
  ...[
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:10.0.0.1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
  ],
  ...['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1', '64:ff9b:1::808:808'],
  ...['2002:7f00:1::', '2002:808:808::1', '::127.0.0.1', '::7f00:1', '::ffff:0:7f00:1', '::808:808'],
];

test.each(REFUSED)('refuses %s', (address) => {
  expect(guard(address)).toMatch(/is not a public address \(.+\)$/);
});

test.each([
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '198.20.0.1',
  ],
  ...['2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2001:4860:4860::8888'],
  // a name server that synthesizes addresses (DNS64) gives these for public IPv4
  ...['64:ff9b::8.8.8.8', '::ffff:8.8.8.8'],
])('takes %s', (address) => {
  expect(guard(address)).toBeUndefined();
});

test('refuses what is not an address', () => {
  for (const text of ['', 'localhost', '127.1', '0x7f000001', '1.1.1.1:80', '[::1]']) {
    expect(guard(text)).toMatch(/is not an IP address$/);
  }
});

test('takes what a range allows, in every form, and nothing besides', () => {
  const allowing = createAddressGuard(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1/32']);
  for (const address of [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '64:ff9b::10.1.2.3',
    'fd00:1::1',
    '127.0.0.1',
    '8.8.8.8',
  ]) {
    expect([address, allowing(address)]).toEqual([address, undefined]);
  }
  for (const address of ['10.2.0.1', 'fd00:2::1', '127.0.0.2', '169.254.169.254', '::1']) {
    expect([address, allowing(address)]).toEqual([address, expect.stringContaining('not a public address')]);
  }
  expect(() => createAddressGuard(['10.0.0.0'])).toThrow();
});

test('an IPv4 address is judged alike in each form that leads to it', () => {
  const bytes = fc.tuple(...[0, 1, 2, 3].map(() => fc.nat(255)));
  fc.assert(
    fc.property(bytes, (four) => {
      const address = four.join('.');
      const refused = guard(address) !== undefined;
      expect(guard(`::ffff:${address}`) !== undefined).toBe(refused);
      expect(guard(`64:ff9b::${address}`) !== undefined).toBe(refused);
      expect(guard(`::${address}`)).toBeDefined();
    }),
    { numRuns: 500 },
  );
});
