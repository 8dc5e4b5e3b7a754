import { type Address, type Hex, hexToBytes, size, toFunctionSelector } from 'viem';
import { isSameAddress } from '../domain/address';
import { unseenIn } from '../domain/quoted';
import { ask, type ChainClient, type ChainClients, ChainUnavailable } from './clients';
import { staticCallBytes } from './evmCalls';
import type { ListedToken } from './tokenList';

/** What an ERC-20 token returns about itself. It need not return any of it: ERC-20 has these functions as optional. */
export interface TokenFacts {
  /** Empty where it returns none that can be shown. */
  readonly symbol: string;
  /** null where it returns none that can be shown. */
  readonly name: string | null;
  /** null where it returns none: then its amounts are shown in the smallest unit. */
  readonly decimals: number | null;
}

/** The outcome of reading a token; `reason` is a sentence. */
export type ReadToken<T = TokenFacts> =
  | { readonly ok: true; readonly token: T }
  | {
      readonly ok: false;
      readonly reason: string;
      /** The chain is unavailable: the token may be valid. */
      readonly unavailable?: true;
    };

/** Gas for one getter of a token, behind a proxy and with its text in storage. */
const GETTER_GAS = 500_000n;
/** Longest return data that is read, in bytes. */
const MAX_ANSWER_BYTES = 4_096;
/** Longer ones are truncated with an ellipsis: they are part of sentences that people sign. In code points. */
const MAX_SYMBOL_LENGTH = 32;
const MAX_NAME_LENGTH = 100;

const WORD = 32;

/** A token returned something malformed. */
class Malformed extends Error {
  override readonly name = 'Malformed';
}

function bigEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
}

/** The bytes of a text as tokens return it: `string`, or `bytes32` padded with zeros, as MKR and others of 2017 do. */
function textBytes(answer: Uint8Array): Uint8Array {
  if (answer.length === WORD) return answer;
  if (answer.length < 2 * WORD || bigEndian(answer.subarray(0, WORD)) !== BigInt(WORD)) throw new Malformed();
  const length = bigEndian(answer.subarray(WORD, 2 * WORD));
  if (length > BigInt(answer.length - 2 * WORD)) throw new Malformed();
  return answer.subarray(2 * WORD, 2 * WORD + Number(length));
}

function decodeText(answer: Hex, maximum: number): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(textBytes(hexToBytes(answer)));
  } catch {
    throw new Malformed();
  }
  const trimmed = text.replace(/\0+$/, '').trim();
  if (trimmed === '' || unseenIn(trimmed) !== undefined) throw new Malformed();
  const characters = [...trimmed];
  return characters.length <= maximum ? trimmed : `${characters.slice(0, maximum - 1).join('')}…`;
}

function decodeDecimals(answer: Hex): number {
  if (size(answer) !== WORD || BigInt(answer) > 255n) throw new Malformed();
  return Number(BigInt(answer));
}

const GETTERS = {
  symbol: toFunctionSelector('symbol()'),
  name: toFunctionSelector('name()'),
  decimals: toFunctionSelector('decimals()'),
} as const;

/** What a getter of a token returns; null where it returns nothing, or something else. */
async function callGetter<T>(
  client: ChainClient,
  token: Address,
  name: keyof typeof GETTERS,
  decode: (answer: Hex) => T,
): Promise<T | null> {
  const call = { to: token, data: GETTERS[name], gas: GETTER_GAS, limit: MAX_ANSWER_BYTES };
  const answer = await staticCallBytes(client, call);
  if (answer === null) return null;
  try {
    return decode(answer);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

/**
 * Reads symbol, name and decimals of an ERC-20 token, with limits of gas, time and length. What it returns is untrusted:
 * a text that is not one plain line, all of it seen, counts as none. Any contract may be a token: what it lacks is only not shown.
 * `address` is checksummed. Never throws.
 */
export async function readToken(client: ChainClient, address: Address): Promise<ReadToken> {
  try {
    const [code, symbol, name, decimals] = await Promise.allSettled([
      ask(client, (rpc) => rpc.getCode({ address })),
      callGetter(client, address, 'symbol', (answer) => decodeText(answer, MAX_SYMBOL_LENGTH)),
      callGetter(client, address, 'name', (answer) => decodeText(answer, MAX_NAME_LENGTH)),
      callGetter(client, address, 'decimals', decodeDecimals),
    ]);
    if (code.status === 'rejected') throw code.reason;
    if (code.value === undefined) {
      return { ok: false, reason: `there is no contract at ${address} on network ${client.network.id}` };
    }
    if (symbol.status === 'rejected') throw symbol.reason;
    if (name.status === 'rejected') throw name.reason;
    if (decimals.status === 'rejected') throw decimals.reason;
    const token = { symbol: symbol.value ?? '', name: name.value, decimals: decimals.value };
    return { ok: true, token };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { ok: false, reason: error.message, unavailable: true };
    return { ok: false, reason: `the contract ${address} on network ${client.network.id} cannot be read` };
  }
}

/** Creates the function that reads tokens of the configured networks, with their logos from the token list. */
export function createReadToken(chains: ChainClients, listed: readonly ListedToken[]) {
  return async (
    networkId: number,
    tokenAddress: string,
  ): Promise<ReadToken<TokenFacts & { readonly logoUrl: string | null }>> => {
    const client = chains.get(networkId);
    if (!client) return { ok: false, reason: `network ${networkId} is not configured` };
    const address = tokenAddress as Address;
    const read = await readToken(client, address);
    if (!read.ok) return read;
    const known = listed.find(
      (token) => token.networkId === networkId && isSameAddress(token.address, address),
    );
    return { ok: true, token: { ...read.token, logoUrl: known?.logoUrl ?? null } };
  };
}
