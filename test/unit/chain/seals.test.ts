import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isSealedHead, openSeal, type SealedHead, signHead, signSeal } from '../../../src/chain/signedSeals';
import type { GenesisSeal } from '../../../src/domain/seal';
import { NO_SEAL } from '../../../src/domain/seal';
import { aHash, aState } from '../../support/builders';

const key = privateKeyToAccount(generatePrivateKey());
const other = privateKeyToAccount(generatePrivateKey());
const state = aState();
const seal: GenesisSeal = {
  type: 'genesis',
  organizationId: state.id,
  sequence: 0,
  previousHash: NO_SEAL,
  at: '2025-06-01T12:00:00.000Z',
  state,
  votes: [],
};

describe('a seal', () => {
  it('is read again as it was signed', async () => {
    const signed = await signSeal(key, seal);
    expect(await openSeal(key.address, signed)).toEqual(seal);
    expect(await openSeal(key.address.toLowerCase(), signed)).toEqual(seal);
  });

  it('is the same text and hash whatever the order of its fields', async () => {
    const reversed = Object.fromEntries(Object.entries(seal).reverse()) as unknown as GenesisSeal;
    expect(await signSeal(key, reversed)).toEqual(await signSeal(key, seal));
  });

  it('is not read with another text, hash, signature or key', async () => {
    const signed = await signSeal(key, seal);
    const another = await signSeal(key, { ...seal, sequence: 1 });
    const foreign = await signSeal(other, seal);
    for (const forged of [
      { ...signed, body: `${signed.body} ` },
      { ...signed, body: another.body },
      { ...signed, hash: another.hash },
      { ...another, signature: signed.signature },
      { ...signed, signature: foreign.signature },
      { ...signed, signature: '0x' as const },
      { ...signed, signature: `${signed.signature.slice(0, -4)}beef` as const },
      foreign,
    ]) {
      expect(await openSeal(key.address, forged as typeof signed)).toBeUndefined();
    }
    expect(await openSeal(other.address, signed)).toBeUndefined();
  });
});

describe('the state of now', () => {
  const head: SealedHead = {
    organizationId: state.id,
    sequence: 3,
    sealHash: aHash(),
    state: JSON.stringify(state),
  };

  it('is what the seal key has signed, to the letter', async () => {
    const signature = await signHead(key, head);
    expect(await isSealedHead(key.address, head, signature)).toBe(true);
    for (const change of [
      { organizationId: aState().id },
      { sequence: 4 },
      { sealHash: aHash() },
      { state: `${head.state} ` },
      { state: JSON.stringify({ ...state, name: 'Eve' }) },
    ]) {
      expect(await isSealedHead(key.address, { ...head, ...change }, signature)).toBe(false);
    }
    expect(await isSealedHead(other.address, head, signature)).toBe(false);
    expect(await isSealedHead(key.address, head, '0x')).toBe(false);
    expect(await isSealedHead(key.address, head, await signHead(other, head))).toBe(false);
  });

  it('is not a seal, though both are signed by the same key', async () => {
    const signed = await signSeal(key, seal);
    expect(await isSealedHead(key.address, head, signed.signature)).toBe(false);
  });
});
