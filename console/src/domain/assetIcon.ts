import { NATIVE_CURRENCY } from './assets.ts';

/** What is drawn for an asset or a chain: a form of its own, or letters. */
export type Drawing = { readonly path: string } | { readonly letters: string };

const DIAMOND = 'M8 2 12 8 8 14 4 8zM4 8 8 10l4-2';
/** Forms of native currencies and of chains, in a square of 16. */
const BY_CURRENCY: { readonly [symbol: string]: string } = {
  ETH: DIAMOND,
  POL: 'M5 5.5 8 4l3 1.5v4L8 11 5 9.5zM8 11v2.5',
  BNB: 'M8 3l2.5 2.5L8 8 5.5 5.5zM8 8l2.5 2.5L8 13l-2.5-2.5zM3 8h1M12 8h1',
  AVAX: 'M8 3 13 12.5H3zM8 8.5l2 4',
  xDAI: 'M3.5 8 8 3.5 12.5 8 8 12.5zM6 8h4',
  CELO: 'M9.5 4a4 4 0 1 0 2.5 5M6.5 12a4 4 0 1 0-2.5-5',
};
/** Forms of tokens, by chain and address: a symbol is whatever its contract says. */
const BY_TOKEN: { readonly [token: string]: string } = {
  '1:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48':
    'M5 4a5 5 0 0 0 0 8M11 4a5 5 0 0 1 0 8M9.5 6.5C9 5.5 6.7 5.6 6.7 7S9.5 8 9.5 9.5 7 11 6.5 9.7M8 4.7v6.6',
  '1:0xdac17f958d2ee523a2206206994597c13d831ec7': 'M4 4.5h8M8 4.5v8M4.5 7c2 1.3 5 1.3 7 0',
  '1:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2': `${DIAMOND}M2 8a6 6 0 0 1 12 0`,
};

const lettersOf = (text: string) => [...text.replace(/[^\p{L}\p{N}]/gu, '')].slice(0, 3).join('') || '?';

/** What is drawn for an asset. `nativeSymbol`: of its network. */
export function assetDrawing(
  networkId: number,
  { tokenAddress, symbol }: { readonly tokenAddress: string; readonly symbol: string },
): Drawing {
  const path =
    tokenAddress === NATIVE_CURRENCY
      ? BY_CURRENCY[symbol]
      : BY_TOKEN[`${networkId}:${tokenAddress.toLowerCase()}`];
  return path === undefined ? { letters: lettersOf(symbol) } : { path };
}

/** What is drawn for a chain: the form of its native currency, or the first letters of its name. */
export function chainDrawing({
  name,
  nativeAsset: { symbol },
}: {
  readonly name: string;
  readonly nativeAsset: { readonly symbol: string };
}): Drawing {
  // Many chains have Ether: only its own has its form.
  const path = symbol === 'ETH' && !/ethereum/i.test(name) ? undefined : BY_CURRENCY[symbol];
  return path === undefined ? { letters: lettersOf(name) } : { path };
}
