import { visible } from '@orgwallet/client';

/** A name in quotes that it cannot close: what it says is never read as part of the sentence around it. */
export const quotedName = (name: string) => `“${visible(name).replaceAll(/[“”]/g, '"')}”`;

/** Letters and digits in words that no sentence here joins names with. */
const PLAIN_NAME = /^(?!.*\b(?:and|or|of|any|nobody)\b)(?:[\p{L}\p{M}\p{N} '’_/&-]|\.(?! ))+$/iu;

/** A name as it is; in quotes where it could be read as more than one, or as a part of the sentence around it. */
export const plainName = (name: string) => (PLAIN_NAME.test(name) ? name : quotedName(name));

/** What reads as a symbol, whatever words are around it. */
const PLAIN_SYMBOL = /^[^\s()[\]“”",;:]{0,24}$/u;

/** The symbol of an asset in a sentence: in quotes where it could be read as a part of that, since a token reports what it likes. */
export const symbolText = (symbol: string): string =>
  PLAIN_SYMBOL.test(symbol) && visible(symbol) === symbol ? symbol : quotedName(symbol);
