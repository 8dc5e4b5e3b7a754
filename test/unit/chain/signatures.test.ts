import fc from 'fast-check';
import { concatHex, type Hex, hexToBytes, keccak256, numberToHex, pad, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  decodeSignature,
  encodeSignature,
  InvalidSignature,
  loadNativeRecovery,
  recoverKeyPortably,
  recoverSigner,
  verifyKeySignature,
} from '../../../src/chain/signatures';
import { hashTypedPayload } from '../../../src/chain/typedData';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const wallet = privateKeyToAccount(keccak256(toHex('cow')));
const digest = keccak256(toHex('something that is signed'));

/** The example of EIP-712. */
const mail = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};
const MAIL_DIGEST = '0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2';
const MAIL_SIGNATURE: Hex =
  '0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c';

function withV(signature: Hex, v: number): Hex {
  return concatHex([signature.slice(0, 130) as Hex, numberToHex(v, { size: 1 })]);
}

/** The same signature with its s mirrored: it recovers to the same address. */
function highTwin(signature: Hex): Hex {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith('1b') ? 28 : 27;
  return concatHex([
    signature.slice(0, 66) as Hex,
    numberToHex(s, { size: 32 }),
    numberToHex(v, { size: 1 }),
  ]);
}

describe('hashTypedPayload', () => {
  test('hashes the example of EIP-712 as the standard does', () => {
    expect(hashTypedPayload(JSON.stringify(mail))).toBe(MAIL_DIGEST);
  });

  test('takes a uint256 as a decimal string and a domain with a salt', async () => {
    const payload = {
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'salt', type: 'bytes32' },
        ],
        Vote: [{ name: 'expiresAt', type: 'uint256' }],
      },
      primaryType: 'Vote',
      domain: { name: 'test', salt: pad('0x01') },
      message: { expiresAt: '1750000000' },
    } as const;
    const signature = await wallet.signTypedData({ ...payload, message: { expiresAt: 1_750_000_000n } });
    expect(await recoverSigner(hashTypedPayload(JSON.stringify(payload)), signature)).toBe(wallet.address);
  });
});

describe('recoverSigner', () => {
  test('recovers the signer of the example of EIP-712', async () => {
    expect(await recoverSigner(MAIL_DIGEST, MAIL_SIGNATURE)).toBe(
      '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826',
    );
  });

  test('refuses the high-s twin', async () => {
    expect(await recoverSigner(MAIL_DIGEST, highTwin(MAIL_SIGNATURE))).toBeNull();
  });

  test.each([0, 1, 2, 26, 29, 255])('refuses v %i', async (v) => {
    expect(await recoverSigner(MAIL_DIGEST, withV(MAIL_SIGNATURE, v))).toBeNull();
  });

  test.each(['0x', '0x00', MAIL_SIGNATURE.slice(0, -2), `${MAIL_SIGNATURE}00`])(
    'refuses what has not 65 bytes',
    async (bytes) => {
      expect(await recoverSigner(MAIL_DIGEST, bytes as Hex)).toBeNull();
    },
  );

  test('refuses r and s that are zero or beyond the curve order', async () => {
    const zero = pad('0x00');
    const beyond = numberToHex(CURVE_ORDER, { size: 32 });
    for (const rs of [
      [zero, zero],
      [zero, pad('0x01')],
      [beyond, pad('0x01')],
    ] as const) {
      expect(await recoverSigner(MAIL_DIGEST, concatHex([...rs, '0x1b']))).toBeNull();
    }
  });

  test('the native library and the portable one agree on whatever bytes', async () => {
    const native = loadNativeRecovery();
    if (!native) throw new Error('the native library does not load on this machine');
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.constantFrom(0, 1),
        async (hash, rs, parity) => {
          const found = await native(hash, rs, parity);
          expect(found && toHex(found)).toEqual(
            await recoverKeyPortably(hash, rs, parity).then((key) => key && toHex(key)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the native library and the portable one agree on real signatures', async () => {
    const native = loadNativeRecovery();
    if (!native) throw new Error('the native library does not load on this machine');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), async (hash) => {
        const signature = await wallet.sign({ hash: toHex(hash) });
        const rs = hexToBytes(signature).subarray(0, 64);
        const parity = signature.endsWith('1b') ? 0 : 1;
        expect(await native(hash, rs, parity)).toEqual(await recoverKeyPortably(hash, rs, parity));
        expect(await recoverSigner(toHex(hash), signature)).toBe(wallet.address);
        expect(await recoverSigner(toHex(hash), highTwin(signature))).toBeNull();
      }),
      { numRuns: 30 },
    );
  });
});

describe('verifyKeySignature', () => {
  const signer = wallet.address;

  test('accepts the signer and nobody else', async () => {
    const bytes = await wallet.sign({ hash: digest });
    expect(await verifyKeySignature({ hash: digest, signer, bytes })).toEqual({ valid: true, scheme: 'eoa' });
    const stranger = privateKeyToAccount(keccak256('0x02')).address;
    expect(await verifyKeySignature({ hash: digest, signer: stranger, bytes })).toMatchObject({
      valid: false,
    });
    expect(await verifyKeySignature({ hash: MAIL_DIGEST, signer, bytes })).toMatchObject({ valid: false });
  });

  test('says what is wrong with a malleable one', async () => {
    const bytes = await wallet.sign({ hash: digest });
    expect(await verifyKeySignature({ hash: digest, signer, bytes: highTwin(bytes) })).toMatchObject({
      valid: false,
      reason: expect.stringContaining('upper half'),
    });
    const v = bytes.endsWith('1b') ? 0 : 1;
    expect(await verifyKeySignature({ hash: digest, signer, bytes: withV(bytes, v) })).toMatchObject({
      valid: false,
      reason: expect.stringContaining('27 or 28'),
    });
  });
});

describe('decodeSignature', () => {
  const encoded = encodeSignature(wallet.address, MAIL_SIGNATURE);
  const word = (index: number) => encoded.slice(2 + index * 64, 66 + index * 64);
  const words = (...all: string[]) => `0x${all.join('')}`;

  test('takes apart what encodeSignature puts together, in any case of its digits', () => {
    const expected = { signer: wallet.address, bytes: MAIL_SIGNATURE };
    expect(decodeSignature(encoded)).toEqual(expected);
    expect(decodeSignature(`0x${encoded.slice(2).toUpperCase()}`)).toEqual(expected);
  });

  test('round trip for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const hex = toHex(bytes);
        expect(decodeSignature(encodeSignature(wallet.address, hex)).bytes).toBe(hex);
      }),
    );
  });

  const zeroWord = '0'.repeat(64);
  test.each([
    ['nothing', ''],
    ['only a prefix', '0x'],
    ['no prefix', encoded.slice(2)],
    ['a letter that is not a digit', encoded.replace('0x0', '0xg')],
    ['an odd number of digits', encoded.slice(0, -1)],
    ['a raw signature', MAIL_SIGNATURE],
    ['a word too few', encoded.slice(0, -64)],
    ['a word too many', encoded + zeroWord],
    ['dirt above the address', encoded.replace('0x00', '0x01')],
    [
      'another offset',
      words(word(0), word(1).replace('40', '60'), zeroWord, word(2), word(3), word(4), word(5)),
    ],
    ['dirt in the padding', `${encoded.slice(0, -1)}1`],
    ['a length beyond the end', words(word(0), word(1), 'f'.repeat(64), word(3), word(4), word(5))],
    ['the zero address', words(zeroWord, word(1), word(2), word(3), word(4), word(5))],
    ['more than 64 KiB', encodeSignature(wallet.address, `0x${'00'.repeat(65_536)}`)],
  ])('refuses %s', (_, text) => {
    expect(() => decodeSignature(text)).toThrow(InvalidSignature);
  });
});
