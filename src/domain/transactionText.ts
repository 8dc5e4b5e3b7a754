import {
  type CallWords,
  calledText,
  encodingLines,
  MAX_FUNCTION_BYTES,
  MAX_TEXT_BYTES,
  parameterLines,
} from './callText';
import { NATIVE_CURRENCY } from './policy';
import { displayAmount, MAX_AMOUNT_BYTES } from './policyText';
import {
  bytesOf,
  listLine,
  MAX_LINE_BYTES,
  plainBeginning,
  quotedBeginning,
  quotedName,
  quotedSymbol,
  summaryLines,
  summaryText,
} from './summary';
import type { ContractInteraction, TokenTransfer, TransactionContent } from './transactionContent';

/** A native currency or a token, as transactions and balances show it. */
export interface Asset {
  /** `<networkId>:<tokenAddress>` */
  readonly id: string;
  /** Empty for a token without one. */
  readonly symbol: string;
  readonly name: string | null;
  readonly logoUrl: string | null;
  /** null where the token reports none: amounts are in the smallest unit. */
  readonly decimals: number | null;
  /** The zero address for the native currency. */
  readonly tokenAddress: string;
}

/** What a token reports about itself. */
export interface TokenWords {
  readonly symbol: string;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly logoUrl: string | null;
}

/** A call that another one carries, with what is known about it. */
interface SummarizedCall {
  readonly content: TransactionContent;
  /** 0x hex, as it is carried. */
  readonly calldata: string;
  /** null where its function is not known, and for a transfer. */
  readonly call: CallWords | null;
  /** The token that it transfers; null for the native currency, an unknown token, and where none is. */
  readonly token: TokenWords | null;
  /** Its function is one that only a policy that names it permits. */
  readonly restricted: boolean;
  readonly nested: SummarizedCalls;
}

/** What a call carries, as a summary says it. */
export interface SummarizedCalls {
  readonly calls: readonly SummarizedCall[];
  /** Its function carries calls, but they cannot be read. */
  readonly unread: boolean;
  /** The signature of a restricted function or transfer that other bytes mention; null for none. */
  readonly mentions: string | null;
}

/** Facts about a transaction besides its bytes. */
export interface TransactionFacts {
  readonly network: {
    readonly id: number;
    readonly name: string;
    readonly nativeAsset: { readonly symbol: string; readonly name: string; readonly decimals: number };
  };
  readonly account: { readonly name: string; readonly address: string };
  /** 0x hex, as it was sent. */
  readonly calldata: string;
  /** The token that is transferred; null for the native currency, an unknown token, and where none is. */
  readonly token: TokenWords | null;
  /** The failed transaction that it replaces; null for none. */
  readonly replaces: string | null;
  /** null where the function is not known, and for a transfer. */
  readonly call: CallWords | null;
  /** Absent for a transfer. */
  readonly nested?: SummarizedCalls;
}

/** What a transfer moves. Throws for a token that was not read. */
export function assetOf({ tokenAddress }: TokenTransfer, { network, token }: TransactionFacts): Asset {
  const id = `${network.id}:${tokenAddress}`;
  if (tokenAddress === NATIVE_CURRENCY) return { id, ...network.nativeAsset, logoUrl: null, tokenAddress };
  if (!token) throw new Error(`token ${tokenAddress} was not read`);
  const { symbol, name, decimals, logoUrl } = token;
  return { id, symbol, name, logoUrl, decimals, tokenAddress };
}

/** Longest name of a carried function: its number and a mark stand before it. */
const MAX_INNER_NAME_BYTES = 32;

/** Longest name of a token on a line with an amount and two addresses, in bytes of UTF-8. */
const MAX_TOKEN_NAME_BYTES = 32;

function callText(
  { contractAddress, selector, value }: ContractInteraction,
  facts: TransactionFacts,
  maxNameBytes: number,
): string {
  const { symbol, decimals } = facts.network.nativeAsset;
  const sent =
    value === 0n ? '' : `, together with ${displayAmount(String(value), decimals)} ${quotedSymbol(symbol)}`;
  return `${calledText({ contractAddress, selector }, facts, maxNameBytes)}${sent}`;
}

function transferText(transfer: TokenTransfer, facts: TransactionFacts): string {
  const { amount, destination } = transfer;
  const raw = `Send ${amount} raw units of the token ${transfer.tokenAddress} to ${destination}`;
  if (transfer.tokenAddress !== NATIVE_CURRENCY && (facts.token?.decimals ?? null) === null) return raw;
  const { symbol, name, decimals, tokenAddress } = assetOf(transfer, facts);
  const shown = displayAmount(String(amount), decimals ?? 0);
  if (shown.length > MAX_AMOUNT_BYTES) return raw;
  const where = tokenAddress === NATIVE_CURRENCY ? 'native currency' : tokenAddress;
  const named = name === null ? '' : `${quotedBeginning(name, MAX_TOKEN_NAME_BYTES)}, `;
  return `Send ${shown} ${quotedSymbol(symbol)} (${named}${where}) to ${destination}`;
}

function contentText(content: TransactionContent, facts: TransactionFacts, maxNameBytes: number): string {
  return content.type === 'TOKEN_TRANSFER'
    ? transferText(content, facts)
    : callText(content, facts, maxNameBytes);
}

/** How a call is not encoded canonically, and what cannot be read of its bytes. */
function unreadLines(call: CallWords | null, { unread, mentions }: SummarizedCalls): string[] {
  return [
    ...encodingLines(call),
    ...(unread ? ['CARRIES CALLS THAT CANNOT BE READ'] : []),
    ...(mentions === null ? [] : [`ITS OTHER BYTES MENTION ${plainBeginning(mentions, MAX_TEXT_BYTES)}`]),
  ];
}

/** A carried call on a line, with as many of its parameters as fit (a token that does not in raw units), and what of its bytes cannot be read. */
function innerItem(number: string, inner: SummarizedCall, facts: TransactionFacts): string[] {
  const { content, calldata, call, token, restricted, nested } = inner;
  const say = (known: TokenWords | null) => {
    const what = contentText(content, { ...facts, calldata, call, token: known }, MAX_INNER_NAME_BYTES);
    return `${number}. ${restricted ? 'RESTRICTED: ' : ''}${what}`;
  };
  const inUnits = say(token);
  const line = bytesOf(inUnits) <= MAX_LINE_BYTES ? inUnits : say(null);
  const parameters = call ? parameterLines(call) : [];
  const whole = parameters.length === 0 ? line : listLine(`${line} (`, parameters, ')');
  const shown = bytesOf(whole) <= MAX_LINE_BYTES ? whole : line;
  return [shown, ...unreadLines(call, nested).map((text) => `${number}. ${text}`)];
}

/** In which order carried calls are said: those that can do anything, those that give something away, the others. */
function rankOf({ content, restricted, call, nested }: SummarizedCall): 0 | 1 | 2 {
  if (restricted || call?.encodingFaults || nested.unread || nested.mentions !== null) return 0;
  return content.type === 'TOKEN_TRANSFER' || content.value > 0n ? 1 : 2;
}

/** The carried calls at every depth, numbered by their places, such as 2.1, by their ranks: there may be no room for the last. */
function innerItems({ calls }: SummarizedCalls, facts: TransactionFacts): string[][] {
  const listed: { readonly number: string; readonly inner: SummarizedCall }[] = [];
  const list = (inners: readonly SummarizedCall[], before: string) => {
    for (const [i, inner] of inners.entries()) {
      const number = `${before}${i + 1}`;
      listed.push({ number, inner });
      list(inner.nested.calls, `${number}.`);
    }
  };
  list(calls, '');
  const ordered = listed.sort((one, other) => rankOf(one.inner) - rankOf(other.inner));
  return ordered.map(({ number, inner }) => innerItem(number, inner, facts));
}

/**
 * A transaction in lines, as it is signed: amount, token and its address, recipient, or the function; account and network;
 * the transaction that it replaces; what of its bytes cannot be read; the calls that it carries; the decoded parameters. Names
 * chosen by people or tokens, and texts from the calldata, are quoted. Long values are truncated and marked, and calls and
 * parameters for which there is no room are counted: the calldata itself is signed as well.
 */
export function transactionSummary(content: TransactionContent, facts: TransactionFacts): string {
  const { account, network, replaces, call, nested } = facts;
  const always = [
    contentText(content, facts, MAX_FUNCTION_BYTES),
    `From the account ${quotedName(account.name)} (${account.address}) on ${quotedName(network.name)} (${network.id})`,
    ...(replaces === null ? [] : [`In place of the failed ${replaces}`]),
    ...(nested ? unreadLines(call, nested) : []),
  ];
  const parameters = content.type === 'TOKEN_TRANSFER' || !call ? [] : parameterLines(call);
  const items = [...(nested ? innerItems(nested, facts) : []), ...parameters.map((line) => [line])];
  return summaryText(always, items, 'the calldata');
}

/** The transaction that one replaces, as its summary says it; null for none. */
export function replacedIn(summary: string): string | null {
  const [, , third = ''] = summaryLines(summary);
  return /^In place of the failed (txn_\w+)$/.exec(third)?.[1] ?? null;
}
