import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { createDecoder } from '../../../src/ops/codec';
import { EncryptingCodec, type PayloadKeys, readPayloadKeys } from '../../../src/temporal/payloadCodec';

const keyOf = (byte: number) => Buffer.alloc(32, byte);
const first: PayloadKeys = { current: 'a', keys: new Map([['a', keyOf(1)]]) };
const rotated: PayloadKeys = {
  current: 'b',
  keys: new Map([
    ['a', keyOf(1)],
    ['b', keyOf(2)],
  ]),
};
const payload = defaultPayloadConverter.toPayload({ organizationId: 'org_secret' });

describe('payloads', () => {
  it('are encrypted with a new nonce each time, and decrypted to what they were', async () => {
    const codec = new EncryptingCodec(first);
    const [one] = await codec.encode([payload]);
    const [two] = await codec.encode([payload]);
    expect(Buffer.from(one?.data ?? []).equals(Buffer.from(two?.data ?? []))).toBe(false);
    expect(JSON.stringify(one)).not.toContain(Buffer.from('org_secret').toString('base64').slice(0, 8));
    const [back] = await codec.decode([one as never]);
    expect(defaultPayloadConverter.fromPayload(back as never)).toEqual({ organizationId: 'org_secret' });
  });

  it('of an older key are read after a rotation, and new ones have the new key', async () => {
    const [old] = await new EncryptingCodec(first).encode([payload]);
    const codec = new EncryptingCodec(rotated);
    const [read] = await codec.decode([old as never]);
    expect(defaultPayloadConverter.fromPayload(read as never)).toEqual({ organizationId: 'org_secret' });
    const [renewed] = await codec.encode([payload]);
    expect(Buffer.from(renewed?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('b');
  });

  it('are not encrypted without a current key, and still read', async () => {
    const [sealed] = await new EncryptingCodec(first).encode([payload]);
    const off = new EncryptingCodec({ ...first, current: null });
    expect(await off.encode([payload])).toEqual([payload]);
    const [read] = await off.decode([sealed as never]);
    expect(defaultPayloadConverter.fromPayload(read as never)).toEqual({ organizationId: 'org_secret' });
  });

  it('that are not encrypted are read as they are', async () => {
    expect(await new EncryptingCodec(first).decode([payload])).toEqual([payload]);
  });

  it.each([
    ['whose key is not there', { current: 'c', keys: new Map([['c', keyOf(3)]]) }, (data: Buffer) => data],
    [
      'whose bytes were changed',
      first,
      (data: Buffer) => data.map((byte, i) => (i === 20 ? byte ^ 1 : byte)),
    ],
    ['that were cut off', first, (data: Buffer) => data.subarray(0, 20)],
  ])('%s are refused', async (_, keys, change) => {
    const [sealed] = await new EncryptingCodec(first).encode([payload]);
    const damaged = { ...sealed, data: change(Buffer.from(sealed?.data ?? [])) };
    await expect(new EncryptingCodec(keys).decode([damaged])).rejects.toThrow();
  });
});

describe('the decoder of the Temporal UI', () => {
  it('shows what is encrypted', async () => {
    const plain = {
      payloads: [
        {
          metadata: { encoding: Buffer.from('json/plain').toString('base64') },
          data: Buffer.from('{"id":"txn_1"}').toString('base64'),
        },
      ],
    };
    const [sealed] = await new EncryptingCodec(first).encode([
      { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"id":"txn_1"}') },
    ]);
    const shown = ({ metadata, data }: NonNullable<typeof sealed>) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
      ),
      data: Buffer.from(data ?? []).toString('base64'),
    });
    const body = JSON.stringify({ payloads: sealed ? [shown(sealed)] : [] });
    expect(body).not.toContain(plain.payloads[0]?.data);
    expect(await createDecoder(first)(body)).toEqual(plain);
  });

  it('refuses another body', async () => {
    await expect(createDecoder(first)('{"payloads":[{"data":"%"}]}')).rejects.toThrow();
  });
});

describe('the file of keys', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'orgwallet-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  function read(content: object | string) {
    const file = join(dir, 'keys.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return () => readPayloadKeys(file);
  }

  it('has keys by their id, and the current one', () => {
    const keys = read({
      current: 'b',
      keys: { a: keyOf(1).toString('base64'), b: keyOf(2).toString('base64') },
    })();
    expect(keys).toEqual(rotated);
  });

  it.each([
    ['no JSON', 'x', 'cannot be read as JSON'],
    ['a short key', { current: 'a', keys: { a: 'AAAA' } }, 'keys.a'],
    ['no current key', { current: 'z', keys: { a: keyOf(1).toString('base64') } }, 'current'],
    ['an unknown field', { current: 'a', keys: { a: keyOf(1).toString('base64') }, x: 1 }, 'top'],
  ])('with %s is refused by the name of the field, and no key is repeated', (_, content, field) => {
    expect(read(content)).toThrow(field);
    expect(read(content)).not.toThrow(keyOf(1).toString('base64'));
  });
});
