import type { IncomingMessage } from 'node:http';
import { addressList, callerNetwork, createTransportReader } from '../../../src/api/transport';

function request(peer: string, headers: Record<string, string> = {}, encrypted = false): IncomingMessage {
  return { headers, socket: { remoteAddress: peer, encrypted } } as unknown as IncomingMessage;
}

describe('how a request came', () => {
  const read = createTransportReader(['10.0.0.0/8', '::1', '192.0.2.7']);

  it('is told by the connection when the peer is no trusted proxy', () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.1' };
    expect(read(request('203.0.113.9', headers))).toEqual({ secure: false, clientAddress: '203.0.113.9' });
    expect(read(request('203.0.113.9', {}, true))).toEqual({ secure: true, clientAddress: '203.0.113.9' });
  });

  it('is told by a trusted proxy', () => {
    expect(read(request('10.1.2.3', { 'x-forwarded-proto': 'https' })).secure).toBe(true);
    expect(read(request('::ffff:192.0.2.7', { 'x-forwarded-proto': 'https' })).secure).toBe(true);
    expect(read(request('10.1.2.3', { 'x-forwarded-proto': 'http' }, true)).secure).toBe(false);
    expect(read(request('10.1.2.3', { 'x-forwarded-proto': 'https, http' })).secure).toBe(false);
    expect(read(request('10.1.2.3')).secure).toBe(false);
  });

  it('names the last caller that is no proxy of ours, whatever the caller wrote before it', () => {
    const headers = { 'x-forwarded-for': '1.1.1.1, 198.51.100.1, 10.9.9.9' };
    expect(read(request('10.1.2.3', headers)).clientAddress).toBe('198.51.100.1');
    expect(read(request('10.1.2.3', { 'x-forwarded-for': 'nonsense' })).clientAddress).toBe('10.1.2.3');
  });

  it.each(['10.0.0.0/33', 'localhost', '10.0.0.0/8/8', '10.0.0.0/x'])('refuses the setting %s', (entry) => {
    expect(() => addressList([entry])).toThrow('TRUSTED_PROXIES');
  });
});

describe('whom failures are counted against', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
  ])('%s', (address, expected) => {
    expect(callerNetwork(address)).toBe(expected);
  });
});
