import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress } from 'viem';
import { readTokenList } from '../../../src/chain/tokenList';

const REAL = require.resolve('@uniswap/default-token-list');
const ADDRESS = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const OTHER = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const good = { chainId: 1, address: ADDRESS, symbol: 'USDT', name: 'Tether USD', decimals: 6 };

const folder = mkdtempSync(join(tmpdir(), 'token-list-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(text: string): string {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, text);
  return file;
}
const listOf = (...tokens: unknown[]) => fileOf(JSON.stringify({ name: 'Odd', tokens }));

describe('the list of Uniswap', () => {
  const real: { tokens: { chainId: number; address: string }[] } = JSON.parse(readFileSync(REAL, 'utf8'));
  const count = (chainId: number) => real.tokens.filter((token) => token.chainId === chainId).length;

  it.each([[1], [137, 8_453], [31_337]])('is read for the networks %j, %j', (...networkIds) => {
    const { tokens, bad } = readTokenList(new Set(networkIds), REAL);
    expect(bad).toEqual([]);
    const wanted = networkIds.filter(Number).reduce((sum, id) => sum + count(id), 0);
    expect(tokens).toHaveLength(wanted);
    expect(tokens.every(({ networkId }) => networkIds.includes(networkId))).toBe(true);
  });

  it('has networks whose addresses are none of Ethereum: they are bad where the network is configured', () => {
    const [odd] = real.tokens.filter(({ address }) => !address.startsWith('0x'));
    const { tokens, bad } = readTokenList(new Set([1, odd?.chainId ?? 0]), REAL);
    expect(tokens).toHaveLength(count(1));
    expect(bad).toHaveLength(count(odd?.chainId ?? 0));
    expect(bad[0]).toMatch(/^tokens\[\d+\]: address: /);
  });
});

it.each<[string, unknown, RegExp]>([
  ['null', null, /^tokens\[1\]: /],
  ['a text', 'USDT', /^tokens\[1\]: /],
  ['a list', [], /^tokens\[1\]: /],
  ['nothing in it', {}, /^tokens\[1\]: chainId: .*, address: .*, symbol: .*, name: .*, decimals: /],
  ['a network in quotes', { ...good, chainId: '1' }, /^tokens\[1\]: chainId: /],
  ['no address', { ...good, address: undefined }, /^tokens\[1\]: address: /],
  [
    'an address of another kind',
    { ...good, address: 'So11111111111111111111111111111111111111112' },
    /address: /,
  ],
  ['a short address', { ...good, address: ADDRESS.slice(0, -1) }, /address: /],
  ['an address with 0X', { ...good, address: ADDRESS.replace('0x', '0X') }, /address: /],
  ['decimals in quotes', { ...good, decimals: '6' }, /decimals: /],
  ['too many decimals', { ...good, decimals: 256 }, /decimals: /],
  ['half a decimal', { ...good, decimals: 6.5 }, /decimals: /],
  ['a symbol that is a number', { ...good, symbol: 6 }, /symbol: /],
  ['no name', { ...good, name: null }, /name: /],
  [
    'a symbol that turns round',
    { ...good, symbol: 'CD\u202eSU' },
    /symbol: .* U\+202E RIGHT-TO-LEFT OVERRIDE/,
  ],
  ['a name with an unseen space', { ...good, name: 'Tether\u200b USD' }, /name: .* U\+200B ZERO WIDTH SPACE/],
  ['the same token', good, /^tokens\[1\]: is tokens\[0\] again$/],
  [
    'the same token in another case',
    { ...good, address: getAddress(ADDRESS), symbol: 'X' },
    /is tokens\[0\] again/,
  ],
])('leaves out an entry with %s, and keeps the others', (_, entry, why) => {
  const { tokens, bad } = readTokenList(
    new Set([1]),
    listOf(good, entry, { ...good, address: OTHER, symbol: 'USDT.e' }),
  );
  expect(tokens.map(({ symbol }) => symbol)).toEqual(['USDT', 'USDT.e']);
  expect(bad).toEqual([expect.stringMatching(why)]);
});

it.each<[string, unknown]>([
  ['of another network', { chainId: 501_000_101, address: 'So1', symbol: 7 }],
  ['of a network below zero', { chainId: -1 }],
  ['of half a network', { chainId: 1.5, address: ADDRESS }],
])('skips an entry %s before it is judged', (_, entry) => {
  expect(readTokenList(new Set([1]), listOf(entry, good))).toMatchObject({
    tokens: [{ networkId: 1 }],
    bad: [],
  });
});

it.each([undefined, null, 7, {}, 'ipfs://bafy'])('keeps a token whose logo is %j', (logoURI) => {
  const { tokens, bad } = readTokenList(new Set([1]), listOf({ ...good, logoURI }));
  const logoUrl = typeof logoURI === 'string' ? logoURI : null;
  expect({ tokens, bad }).toMatchObject({
    tokens: [{ address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', logoUrl }],
    bad: [],
  });
});

it.each([
  ['no JSON', 'tokens'],
  ['no tokens', '{"name":"Empty"}'],
  ['tokens that are not a list', '{"tokens":{}}'],
])('refuses a file with %s, with its name', (_, text) => {
  const file = fileOf(text);
  expect(() => readTokenList(new Set([1]), file)).toThrow(`TOKEN_LIST_FILE: ${file} is not a token list: `);
});

it('keeps a token of the same address on another network', () => {
  const { tokens, bad } = readTokenList('all', listOf(good, { ...good, chainId: 137 }));
  expect([tokens.map(({ networkId }) => networkId), bad]).toEqual([[1, 137], []]);
});
