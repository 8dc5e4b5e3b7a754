import { visible } from '@orgwallet/client';

/** What reads as a symbol, whatever words are around it. */
const PLAIN = /^[^\s()[\]“”",;:]{0,24}$/u;

/** The symbol of an asset in a sentence: in quotes where it could be read as a part of that, since a token reports what it likes. */
export const symbolText = (symbol: string): string =>
  PLAIN.test(symbol) && visible(symbol) === symbol ? symbol : `“${visible(symbol).replaceAll(/[“”]/g, '"')}”`;
