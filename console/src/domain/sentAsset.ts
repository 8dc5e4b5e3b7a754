import type { Schema, Transaction } from '@orgwallet/client';

type Transfer = Extract<Transaction, { type: 'TOKEN_TRANSFER' }>;

/** The text in quotes of JSON; undefined where it is none. */
function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a transfer sends, as its summary says it, which is signed: raw units of a token that the organization does not know,
 * whatever the token says of itself.
 */
export function sentAsset({
  summary = '',
  data: { asset },
}: Pick<Transfer, 'summary' | 'data'>): Schema['Asset'] {
  const [, raw, symbol, cut = ''] =
    /^Send (?:\d+ (raw units) of the token |\S+ ("(?:[^"\\]|\\.)*")(…?) \()/.exec(summary) ?? [];
  if (raw !== undefined) return { ...asset, symbol: '', decimals: null };
  return symbol === undefined ? asset : { ...asset, symbol: `${unquoted(symbol) ?? ''}${cut}` };
}
