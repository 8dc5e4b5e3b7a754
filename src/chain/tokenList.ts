import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { checksumAddress } from './address';

/** A token with its name and logo. */
export interface ListedToken {
  readonly networkId: number;
  readonly address: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly logoUrl: string | null;
}

const tokenListSchema = z.object({
  tokens: z.array(
    z.object({
      chainId: z.number().int().positive(),
      address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
      symbol: z.string(),
      name: z.string(),
      decimals: z.number().int().min(0).max(255),
      logoURI: z.string().optional(),
    }),
  ),
});

/** The list that comes with the service. */
const DEFAULT_TOKEN_LIST_FILE = join(__dirname, 'tokenList.json');

/** Reads a token list in the format of tokenlists.org. Throws an error that names the file and the bad field. */
export function readTokenList(file: string = DEFAULT_TOKEN_LIST_FILE): readonly ListedToken[] {
  let parsed: z.infer<typeof tokenListSchema>;
  try {
    parsed = tokenListSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`TOKEN_LIST_FILE: ${file} is not a token list: ${(error as Error).message}`);
  }
  return parsed.tokens.map((token) => ({
    networkId: token.chainId,
    address: checksumAddress(token.address),
    symbol: token.symbol,
    name: token.name,
    decimals: token.decimals,
    logoUrl: token.logoURI ?? null,
  }));
}

/** The tokens of the list that comes with the service, whatever TOKEN_LIST_FILE says: summaries name them. */
export const SHIPPED_TOKENS = readTokenList();
