import { NATIVE_CURRENCY } from './policy';
import { displayAmount } from './policyText';
import { quoted } from './quoted';
import type { ContractInteraction, TokenTransfer, TransactionContent } from './transactionContent';

/** A native currency or a token, as transactions and balances show it. */
export interface Asset {
  /** `<networkId>:<tokenAddress>` */
  readonly id: string;
  /** Empty for a token without one. */
  readonly symbol: string;
  readonly name: string | null;
  readonly logoUrl: string | null;
  readonly decimals: number;
  /** The zero address for the native currency. */
  readonly tokenAddress: string;
}

/** The content of a token transfer, as the API shows it. */
export interface TokenTransferData {
  readonly destination: string;
  readonly asset: Asset;
  /** In the smallest unit, decimal digits. */
  readonly rawAmount: string;
  /** In whole units, decimal. */
  readonly displayAmount: string;
  readonly networkId: number;
}

/** A parameter of a decoded call; `name` is empty where only its type is known, `value` is always a text. */
export interface FunctionParameter {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** The content of any other call, as the API shows it. */
export interface ContractInteractionData {
  readonly toAddress: string;
  /** 0x hex, as it was sent. */
  readonly calldata: string;
  readonly networkId: number;
  /** Native currency that the call sends, in its smallest unit. */
  readonly value: string;
  /** Absent where the function is not known. */
  readonly functionName?: string;
  readonly functionParameters?: readonly FunctionParameter[];
}

/** What a token reports about itself. */
export interface TokenWords {
  readonly symbol: string;
  readonly name: string | null;
  readonly decimals: number;
  readonly logoUrl: string | null;
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
  /** The call as it was decoded; null where its function is not known, and for a transfer. */
  readonly call: {
    readonly functionName: string;
    readonly functionParameters: readonly FunctionParameter[];
  } | null;
}

function assetOf({ tokenAddress }: TokenTransfer, { network, token }: TransactionFacts): Asset {
  const id = `${network.id}:${tokenAddress}`;
  if (tokenAddress === NATIVE_CURRENCY) return { id, ...network.nativeAsset, logoUrl: null, tokenAddress };
  if (!token) throw new Error(`token ${tokenAddress} was not read`);
  const { symbol, name, decimals, logoUrl } = token;
  return { id, symbol, name, logoUrl, decimals, tokenAddress };
}

/** The content of a transaction, as the API shows it in `data`. */
export function transactionData(
  content: TransactionContent,
  facts: TransactionFacts,
): TokenTransferData | ContractInteractionData {
  const networkId = facts.network.id;
  if (content.type === 'TOKEN_TRANSFER') {
    const asset = assetOf(content, facts);
    const rawAmount = String(content.amount);
    const shown = displayAmount(rawAmount, asset.decimals);
    return { destination: content.destination, asset, rawAmount, displayAmount: shown, networkId };
  }
  const { contractAddress: toAddress, value } = content;
  return { toAddress, calldata: facts.calldata, networkId, value: String(value), ...facts.call };
}

/** Longest text or name in a sentence, in characters; longest bytes, in bytes. */
const MAX_TEXT = 100;
const MAX_BYTES = 64;
/** Longest list of values; longest list of parameters. The rest is only counted. */
const MAX_LIST = 300;
const MAX_PARAMETERS = 1_000;

/** A text from the calldata, in quotes; of a long one the beginning. */
function foreign(text: string): string {
  const characters = [...text];
  const shown = characters.slice(0, MAX_TEXT).join('');
  const rest = characters.length > MAX_TEXT ? `… (${characters.length} characters)` : '';
  return `${quoted(shown)}${rest}`;
}

/** As many items as fit, and the number of the others. */
function fitting(items: readonly string[], maximum: number): string {
  let length = 0;
  const shown = items.filter((item) => {
    length += item.length;
    return length <= maximum;
  });
  const more = items.length - shown.length;
  if (more === 0) return shown.join(', ');
  return shown.length > 0 ? `${shown.join(', ')}, ${more} more` : more === 1 ? '1 value' : `${more} values`;
}

/** A value of an array or tuple, as JSON has it. */
type Listed = string | boolean | readonly Listed[];

function listedText(value: Listed): string {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? foreign(value) : `[${fitting(value.map(listedText), MAX_LIST)}]`;
}

function valueText({ type, value }: FunctionParameter): string {
  if (type.endsWith(']') || type.startsWith('(')) return listedText(JSON.parse(value));
  if (type === 'string') return foreign(value);
  const bytes = value.length / 2 - 1;
  if (type === 'bytes' && bytes > MAX_BYTES) return `${value.slice(0, 2 + 2 * MAX_BYTES)}… (${bytes} bytes)`;
  return value;
}

function functionText(call: NonNullable<TransactionFacts['call']>): string {
  const parameters = call.functionParameters.map((parameter) =>
    parameter.name === '' ? valueText(parameter) : `${parameter.name}: ${valueText(parameter)}`,
  );
  const name = call.functionName;
  return `${name.length > MAX_TEXT ? `${name.slice(0, MAX_TEXT)}…` : name}(${fitting(parameters, MAX_PARAMETERS)})`;
}

function callText(
  { contractAddress, selector, value }: ContractInteraction,
  facts: TransactionFacts,
): string {
  const { symbol, decimals } = facts.network.nativeAsset;
  const sent =
    value === 0n ? '' : `, together with ${displayAmount(String(value), decimals)} ${quoted(symbol)}`;
  if (facts.call) return `Call ${functionText(facts.call)} of ${contractAddress}${sent}`;
  const bytes = facts.calldata.length / 2 - 1;
  const calldata =
    bytes === 0 ? 'without calldata' : `with ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} of calldata`;
  const called =
    selector === null ? contractAddress : `the unknown function ${selector} of ${contractAddress}`;
  return `Call ${called} ${calldata}${sent}`;
}

function transferText(transfer: TokenTransfer, facts: TransactionFacts): string {
  if (transfer.tokenAddress !== NATIVE_CURRENCY && !facts.token) {
    const { amount, tokenAddress: unknown, destination } = transfer;
    return `Send ${amount} raw units of the token ${unknown} to ${destination}`;
  }
  const { symbol, name, decimals, tokenAddress } = assetOf(transfer, facts);
  const where = tokenAddress === NATIVE_CURRENCY ? 'native currency' : tokenAddress;
  const token = `${quoted(symbol)} (${name === null ? '' : `${quoted(name)}, `}${where})`;
  return `Send ${displayAmount(String(transfer.amount), decimals)} ${token} to ${transfer.destination}`;
}

/**
 * A transaction in one line, as it is signed: amount, token and its address, recipient, or the decoded
 * function; account and network. Names chosen by people or tokens, and texts from the calldata, are quoted.
 * Long values are truncated and marked: the calldata itself is signed as well.
 */
export function transactionSummary(content: TransactionContent, facts: TransactionFacts): string {
  const what = content.type === 'TOKEN_TRANSFER' ? transferText(content, facts) : callText(content, facts);
  const { account, network, replaces } = facts;
  const from = `from the account ${quoted(account.name)} (${account.address})`;
  const instead = replaces === null ? '' : `, in place of the failed ${replaces}`;
  return `${what} ${from} on ${quoted(network.name)} (${network.id})${instead}`;
}
