import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codePointText } from '../domain/codePoints';
import { unseenIn } from '../domain/quoted';
import { checksumAddress } from './address';

/** A token with its name and logo. */
export interface ListedToken {
  readonly networkId: number;
  readonly address: string;
  readonly symbol: string;
  readonly name: string | null;
  /** null where the token reports none. */
  readonly decimals: number | null;
  readonly logoUrl: string | null;
}

const fileSchema = z.object({ tokens: z.array(z.unknown()) });
const networkSchema = z.object({ chainId: z.number() });
const text = z.string().check(({ value, issues }) => {
  const unseen = unseenIn(value);
  if (unseen === undefined) return;
  issues.push({ code: 'custom', input: value, message: `must not contain ${codePointText(unseen)}` });
});
const tokenSchema = z.object({
  chainId: z.number().int().positive(),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  symbol: text,
  name: text,
  decimals: z.number().int().min(0).max(255),
  // A bad logo does not make a token invalid.
  logoURI: z.string().nullish().catch(null),
});

/** What a token list has for some networks. */
interface TokenList {
  readonly tokens: readonly ListedToken[];
  /** Why entries are left out, with the position of each. */
  readonly bad: readonly string[];
}

/** The list that comes with the service. */
const DEFAULT_TOKEN_LIST_FILE = join(__dirname, 'tokenList.json');

function entriesOf(file: string): readonly unknown[] {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).tokens;
  } catch (error) {
    throw new Error(`TOKEN_LIST_FILE: ${file} is not a token list: ${(error as Error).message}`);
  }
}

/**
 * Reads a token list in the format of tokenlists.org. Entries of other networks than `networkIds` are skipped, whatever is
 * in them: lists have networks whose addresses are none of Ethereum. Of the others, bad ones are left out, and all but the first of a token. Throws an error that
 * names a file that is not a list.
 */
export function readTokenList(
  networkIds: ReadonlySet<number> | 'all',
  file: string = DEFAULT_TOKEN_LIST_FILE,
): TokenList {
  const tokens: ListedToken[] = [];
  const bad: string[] = [];
  /** The position of each token. */
  const places = new Map<string, number>();
  for (const [index, entry] of entriesOf(file).entries()) {
    const network = networkSchema.safeParse(entry).data;
    if (network && networkIds !== 'all' && !networkIds.has(network.chainId)) continue;
    const { data: token, error } = tokenSchema.safeParse(entry);
    if (!token) {
      const why = error.issues.map(({ path, message }) => [...path, message].join(': '));
      bad.push(`tokens[${index}]: ${why.join(', ')}`);
      continue;
    }
    const { chainId: networkId, symbol, name, decimals, logoURI: logoUrl = null } = token;
    const address = checksumAddress(token.address);
    const key = `${networkId}:${address}`;
    const first = places.get(key);
    if (first !== undefined) {
      bad.push(`tokens[${index}]: is tokens[${first}] again`);
      continue;
    }
    places.set(key, index);
    tokens.push({ networkId, address, symbol, name, decimals, logoUrl });
  }
  return { tokens, bad };
}

/** The tokens of the list that comes with the service, whatever TOKEN_LIST_FILE says: summaries name them. */
export const SHIPPED_TOKENS = readTokenList('all').tokens;
