import type { Schema } from '@orgwallet/client';
import { addressDifference } from '../../../console/src/domain/addressDifference.ts';
import { addressIcon } from '../../../console/src/domain/addressIcon.ts';
import { assetDrawing, chainDrawing } from '../../../console/src/domain/assetIcon.ts';
import { readPrefixed } from '../../../console/src/domain/prefixedAddress.ts';
import { quotedName } from '../../../console/src/domain/quotedName.ts';
import { namedAddress } from '../../../console/src/text/addressName.ts';
import { recipientText } from '../../../console/src/text/recipient.ts';
import { anAddress } from '../../support/builders';

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const networkName = (id: number) => (id === 1 ? 'Ethereum' : undefined);

describe('a recipient', () => {
  const about = (more: Partial<Schema['Recipient']>) =>
    recipientText({ known: [], count: 0, lastAt: null, ...more }, networkName);

  it('is known from where it stands and what was paid to it', () => {
    const known: Schema['KnownAddress'][] = [
      { type: 'member', id: 'mem_1', name: 'Alice' },
      { type: 'addressBookEntry', id: 'adr_1', name: 'ACME', networkId: 1 },
      { type: 'policy', id: 'pol_1', name: 'Suppliers', networkId: 1 },
      { type: 'policy', id: 'pol_2', name: 'Rent', networkId: 1 },
    ];
    expect(about({ known })).toBe(
      'the member “Alice”, “ACME” in the address book on Ethereum, named in “Suppliers”, “Rent”, ' +
        'first time: no completed transaction to it before',
    );
    expect(about({ count: 2, lastAt: '2025-06-01T12:00:00.000Z' })).toMatch(
      /^known address, 2 completed transactions to it before, the last one .*2025/,
    );
  });

  it('that is not known is a first one', () => {
    expect(about({})).toBe('unknown address, first time: no completed transaction to it before');
  });

  it('may be typed after the short name of the chosen network', () => {
    const network = { id: 1, name: 'Ethereum', shortName: 'eth' };
    expect(readPrefixed(` eth:${ADDRESS} `, network)).toEqual({ address: ADDRESS });
    expect(readPrefixed(ADDRESS, network)).toEqual({ address: ADDRESS });
    expect(readPrefixed(`gno:${ADDRESS}`, network)).toEqual({
      error: 'This is an address on the network “gno”: the chosen network is Ethereum',
    });
    expect(readPrefixed(`eth:${ADDRESS}`, undefined)).toEqual({
      error: 'This is an address on the network “eth”: choose its network first',
    });
    expect(readPrefixed('eth:0x12', network)).toEqual({ address: 'eth:0x12' });
  });
});

describe('the name of an address', () => {
  const names = { owner: (one: string) => (one === ADDRESS ? 'Dave' : undefined), noted: () => 'ACME' };

  it('is that of the admins first; one of the address book says that it is from there', () => {
    const other = anAddress();
    expect(namedAddress(ADDRESS, names)).toBe(`“Dave” (${ADDRESS})`);
    expect(namedAddress(other, names)).toBe(`“ACME” (address book, ${other})`);
    expect(namedAddress(other, { ...names, noted: () => undefined })).toBe(other);
  });

  it('cannot end its quotes: what it says is no other address', () => {
    const other = anAddress();
    const name = `Dave” (${ADDRESS}), paid by “ACME`;
    const expected = `“Dave" (${ADDRESS}), paid by "ACME” (address book, ${other})`;
    expect(namedAddress(other, { ...names, noted: () => name })).toBe(expected);
    expect(quotedName(name).slice(1, -1)).not.toMatch(/[“”]/);
  });
});

describe('the icon of an address', () => {
  it('is the same for the same digits, whatever their case, and mirrors itself', () => {
    const icon = addressIcon(ADDRESS);
    expect(addressIcon(ADDRESS.toLowerCase())).toEqual(icon);
    const rows = Array.from({ length: 8 }, (_, row) => icon.fields.slice(row * 8, row * 8 + 8));
    for (const row of rows) expect([...row].reverse()).toEqual(row);
  });

  it('differs for addresses that look alike, and for any others', () => {
    const middle = (digit: string) => `${ADDRESS.slice(0, 20)}${digit}${ADDRESS.slice(21)}`;
    const addresses = [...'0123456789abcdef'].map(middle).concat(Array.from({ length: 2_000 }, anAddress));
    const icons = addresses.map((address) => JSON.stringify(addressIcon(address)));
    expect(new Set(icons).size).toBe(new Set(addresses.map((one) => one.toLowerCase())).size);
  });
});

describe('the icon of an asset', () => {
  const native = { tokenAddress: `0x${'0'.repeat(40)}`, symbol: 'ETH' };
  const usdc = { tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', symbol: 'USDC' };

  it('is drawn where it is the token, and not where only its symbol says so', () => {
    expect(assetDrawing(1, native)).toHaveProperty('path');
    expect(assetDrawing(1, usdc)).toHaveProperty('path');
    expect(assetDrawing(5, usdc)).toEqual({ letters: 'USD' });
    expect(assetDrawing(1, { ...usdc, tokenAddress: ADDRESS })).toEqual({ letters: 'USD' });
    expect(assetDrawing(1, { tokenAddress: ADDRESS, symbol: '' })).toEqual({ letters: '?' });
  });

  it('of a chain is its letters, where its currency is that of another one', () => {
    const nativeAsset = { symbol: 'ETH' };
    expect(chainDrawing({ name: 'Ethereum', nativeAsset })).toHaveProperty('path');
    expect(chainDrawing({ name: 'Base', nativeAsset })).toEqual({ letters: 'Bas' });
  });
});

it('the difference of two addresses is every digit that is another one', () => {
  const other = `0x7099${'a'.repeat(32)}79c8`;
  const parts = addressDifference(ADDRESS, other);
  expect(parts.map(({ text }) => text).join('')).toBe(ADDRESS);
  expect(parts[0]).toEqual({ text: '0x7099', differs: false });
  expect(parts.at(-1)).toEqual({ text: '79C8', differs: false });
});
