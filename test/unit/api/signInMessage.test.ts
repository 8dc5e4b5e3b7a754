import fc from 'fast-check';
import { createSiweMessage } from 'viem/siwe';
import { checkSignInMessage, readSignInMessage } from '../../../src/api/signInMessage';

const now = new Date('2026-01-31T12:00:00.000Z');
const origin = 'https://wallet.example.com';
const terms = { origin, networkIds: [1, 31_337], now };
const FIELDS = {
  domain: 'wallet.example.com',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  uri: origin,
  version: '1',
  chainId: 1,
  nonce: 'a1b2c3d4e5f6a7b8c9d0',
  issuedAt: now,
} as const;

const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const check = (more: object) =>
  checkSignInMessage(readSignInMessage(createSiweMessage({ ...FIELDS, ...more })), terms);

describe('a message to sign in', () => {
  it.each([
    ['no more than it needs', {}],
    ['a statement', { statement: 'Sign in.' }],
    ['its scheme', { scheme: 'https' }],
    ['a path of the page', { uri: `${origin}/transactions?open=1` }],
    ['resources', { resources: ['https://example.com/terms'] }],
    ['a request ID', { requestId: 'one' }],
    ['times', { expirationTime: minutes(1), notBefore: now }],
    ['a clock that is five minutes behind or before', { issuedAt: minutes(5) }],
    ['a wallet that took ten minutes', { issuedAt: minutes(-10) }],
  ])('is accepted with %s', (_, more) => {
    expect(() => check(more)).not.toThrow();
  });

  it.each([
    ['another domain', { domain: 'wallet.example.com.evil.example' }, 'domain'],
    ['a port that the origin does not have', { domain: 'wallet.example.com:8443' }, 'domain'],
    ['another scheme', { scheme: 'http' }, 'scheme'],
    ['a URI that only begins like the origin', { uri: `${origin}.evil.example` }, 'URI'],
    ['a URI with the origin as its user', { uri: 'https://wallet.example.com@evil.example' }, 'URI'],
    ['another chain', { chainId: 2 }, 'chain ID'],
    ['a future', { issuedAt: minutes(6) }, 'future'],
    ['a past', { issuedAt: minutes(-11) }, 'too long ago'],
    ['its end', { expirationTime: now }, 'expired'],
    ['a beginning to come', { notBefore: minutes(1) }, 'not valid before'],
  ])('is refused with %s', (_, more, message) => {
    expect(() => check(more)).toThrow(message);
  });

  it('is never read from a text with one character more, less or changed in a field', () => {
    const text = createSiweMessage({ ...FIELDS, statement: 'Sign in.', expirationTime: minutes(1) });
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 2, unit: 'binary' }), (at, put) => {
        const altered = text.slice(0, at) + put + text.slice(at + 1);
        fc.pre(altered !== text);
        try {
          expect(createSiweMessage(readSignInMessage(altered))).toBe(altered);
        } catch (error) {
          expect((error as { status?: number }).status).toBe(400);
        }
      }),
    );
  });
});
