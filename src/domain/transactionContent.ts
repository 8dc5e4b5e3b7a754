import { isSameAddress } from './address';
import { NATIVE_CURRENCY } from './policy';
import { accept, type Result, refuse } from './refusal';

/** The call that an account makes: a value, calldata, or both, to one address. */
export interface TransactionCall {
  readonly to: string;
  /** In the smallest unit of the native currency. */
  readonly value: bigint;
  /** 0x hex, of either case. */
  readonly data: string;
}

/** Native currency or an ERC-20 token that is sent to an address. */
export interface TokenTransfer {
  readonly type: 'TOKEN_TRANSFER';
  /** The zero address is the native currency. */
  readonly tokenAddress: string;
  readonly destination: string;
  /** In the smallest unit. */
  readonly amount: bigint;
}

/** Any other call. */
export interface ContractInteraction {
  readonly type: 'CONTRACT_INTERACTION';
  readonly contractAddress: string;
  /** First 4 bytes of the calldata as lower-case 0x hex; null where there are fewer. */
  readonly selector: string | null;
  /** Native currency that the call sends, in its smallest unit. */
  readonly value: bigint;
}

/** What a transaction does, decoded from its bytes. */
export type TransactionContent = TokenTransfer | ContractInteraction;

/** A call that another call carries, such as one of a multicall. */
export interface NestedCall {
  readonly call: TransactionCall;
  readonly content: TransactionContent;
  /** Why its encoding is refused where it is a transaction of its own; null where it is not. */
  readonly encodingFault: string | null;
  readonly nested: NestedCalls;
}

/** What a call carries besides its own function. */
export interface NestedCalls {
  /** The calls that its function makes; null where it makes none, or where they cannot be read. */
  readonly calls: readonly NestedCall[] | null;
  /**
   * The signature of a restricted function or token transfer that its bytes mention elsewhere than in these calls; null
   * where they mention none.
   */
  readonly mentions: string | null;
}

/** The calls that a call carries, at every depth. */
export function allNested({ calls }: NestedCalls): readonly NestedCall[] {
  return (calls ?? []).flatMap((one) => [one, ...allNested(one.nested)]);
}

/** What an account gives away, to whom. */
export interface Spending {
  readonly recipient: string;
  /** The zero address is the native currency. */
  readonly token: string;
  /** In the smallest unit. */
  readonly amount: bigint;
}

/** What a transaction gives away: of a call the native currency that it sends to the contract. */
export function spendingOf(content: TransactionContent): Spending {
  return content.type === 'TOKEN_TRANSFER'
    ? { recipient: content.destination, token: content.tokenAddress, amount: content.amount }
    : { recipient: content.contractAddress, token: NATIVE_CURRENCY, amount: content.value };
}

/** The largest calldata, in bytes. */
export const MAX_CALLDATA_BYTES = 131_072;

/** `transfer(address,uint256)`. Source: ERC-20. */
const TRANSFER_SELECTOR = '0xa9059cbb';
/** A selector, a word with an address in its last 20 bytes, and a word with the amount. */
const TRANSFER = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/;
const UINT256_END = 2n ** 256n;

function isCalldata(text: string): boolean {
  return /^0x[0-9a-f]*$/.test(text) && text.length % 2 === 0 && text.length <= 2 + 2 * MAX_CALLDATA_BYTES;
}

/**
 * Decodes what a call does. Calldata that begins like an ERC-20 transfer but is malformed is refused: its effect is
 * unknown. Addresses keep the case they have in `to`; one from the calldata is formatted with `checksum`.
 */
export function readContent(
  { to, value, data: written }: TransactionCall,
  checksum: (address: string) => string,
): Result<TransactionContent> {
  const data = written.toLowerCase();
  if (!isCalldata(data)) return refuse('validationError', 'must be 0x and whole bytes in hex', 'data');
  if (value < 0n || value >= UINT256_END) {
    return refuse('validationError', 'must be at least 0 and below 2^256', 'value');
  }
  if (to === NATIVE_CURRENCY) return refuse('validationError', 'must not be the zero address', 'to');
  if (data === '0x' && value > 0n) {
    return accept({ type: 'TOKEN_TRANSFER', tokenAddress: NATIVE_CURRENCY, destination: to, amount: value });
  }
  if (!data.startsWith(TRANSFER_SELECTOR)) {
    const selector = data.length < 10 ? null : data.slice(0, 10);
    return accept({ type: 'CONTRACT_INTERACTION', contractAddress: to, selector, value });
  }
  const [, recipient, amount] = TRANSFER.exec(data) ?? [];
  if (recipient === undefined || amount === undefined || value !== 0n) {
    return refuse(
      'validationError',
      'begins with a9059cbb and must then be a token transfer: 68 bytes, a clean address word, and a value of 0',
      'data',
    );
  }
  return accept({
    type: 'TOKEN_TRANSFER',
    tokenAddress: to,
    destination: checksum(`0x${recipient}`),
    amount: BigInt(`0x${amount}`),
  });
}

/** Who gets what is sent, in words, where nothing comes back from there; null elsewhere. */
function lostTo(content: TransactionContent, adminsSafe: readonly string[]): string | null {
  const { recipient, token } = spendingOf(content);
  if (adminsSafe.some((address) => isSameAddress(address, recipient))) {
    return "the admins' Safe or its keeper, which hold no money";
  }
  if (content.type !== 'TOKEN_TRANSFER' || token === NATIVE_CURRENCY) return null;
  if (recipient === NATIVE_CURRENCY) return 'the zero address';
  return isSameAddress(recipient, token) ? 'its own contract' : null;
}

/**
 * Refuses a transaction to the account itself, to a Safe contract or to the admins' Safe and its keeper, because they are changed only
 * by proposals; a token transfer that nothing comes back from: to the account itself or these two, which hold no money, to the
 * token's own contract, or to the zero address; and one that carries a call to these two, or such a transfer.
 */
export function checkTarget(
  to: string,
  /** What it sends; null where it has no content. */
  sent: Pick<NestedCall, 'content' | 'nested'> | null,
  account: {
    readonly address: string;
    readonly contracts: readonly string[];
    /** The admins' Safe and its keeper. */
    readonly adminsSafe: readonly string[];
  },
): Result<null> {
  const isTo = (address: string) => isSameAddress(address, to);
  if (isTo(account.address)) return refuse('validationError', 'must not be the account itself', 'to');
  if (account.contracts.some(isTo)) {
    return refuse('validationError', 'must not be a Safe contract', 'to');
  }
  if (account.adminsSafe.some(isTo)) {
    return refuse('validationError', "must not be the admins' Safe or its keeper, which hold no money", 'to');
  }
  if (sent === null) return accept(null);
  const { content, nested } = sent;
  if (content.type === 'TOKEN_TRANSFER' && content.tokenAddress !== NATIVE_CURRENCY) {
    const { destination } = content;
    const lost = isSameAddress(destination, account.address)
      ? 'the account itself'
      : lostTo(content, account.adminsSafe);
    if (lost !== null) {
      return refuse('validationError', `must not transfer the token to ${lost} (${destination})`, 'data');
    }
  }
  for (const carried of allNested(nested)) {
    const lost = lostTo(carried.content, account.adminsSafe);
    if (lost !== null) {
      const { recipient } = spendingOf(carried.content);
      return refuse('validationError', `must not carry a call or transfer to ${lost} (${recipient})`, 'data');
    }
  }
  return accept(null);
}
