import { type Address, decodeErrorResult, type Hex, parseAbi, size, sliceHex } from 'viem';

/** Longest text of a contract that is shown, in characters as a reader counts. */
const MAX_TEXT_LENGTH = 200;
/** Bytes of an unknown answer that are shown. */
const MAX_SHOWN_BYTES = 36;

/** `Error(string)` and `Panic(uint256)`. Source: Solidity, "Error handling". */
const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

const PANICS: Readonly<Record<number, string>> = {
  0: 'a panic of the compiler',
  1: 'an assertion that does not hold',
  17: 'an overflow or underflow',
  18: 'a division by zero',
  33: 'a value that its enum does not have',
  34: 'a storage byte array that is wrongly encoded',
  49: 'a pop from an empty array',
  50: 'an index outside its array',
  65: 'too much memory',
  81: 'a call of a function that is not initialized',
};

/** Errors of token standards and of contracts that everybody uses. Sources: ERC-6093, OpenZeppelin. */
const KNOWN_ERRORS = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC721NonexistentToken(uint256 tokenId)',
  'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
  'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
  'error ERC721InvalidReceiver(address receiver)',
  'error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)',
  'error OwnableUnauthorizedAccount(address account)',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error EnforcedPause()',
  'error SafeERC20FailedOperation(address token)',
  'error AddressInsufficientBalance(address account)',
  'error FailedInnerCall()',
  'error ReentrancyGuardReentrantCall()',
  'error InsufficientBalance(uint256 balance, uint256 needed)',
]);

const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Cs}\u2028\u2029\ufeff]+/gu;

/** Foreign text as a reader may see it: one line without control characters, cut, and in quotes. */
function plain(text: string): string {
  const line = text.replace(UNPRINTABLE, ' ').trim();
  const characters = [...line];
  const shown =
    characters.length <= MAX_TEXT_LENGTH ? line : `${characters.slice(0, MAX_TEXT_LENGTH - 1).join('')}…`;
  return JSON.stringify(shown);
}

function word(data: Hex, index: number): bigint | undefined {
  const start = 4 + index * 32;
  return size(data) < start + 32 ? undefined : BigInt(sliceHex(data, start, start + 32));
}

/** The text of `Error(string)`; what was cut off at the end of long data is missing. Undefined for what is none. */
function errorText(data: Hex): string | undefined {
  const length = word(data, 1);
  if (word(data, 0) !== 32n || length === undefined) return undefined;
  const bytes = Buffer.from(data.slice(2 + 2 * (4 + 64)), 'hex');
  if (length > 2n ** 32n || (length > BigInt(bytes.length) && bytes.length < MAX_TEXT_LENGTH))
    return undefined;
  return new TextDecoder('utf-8').decode(bytes.subarray(0, Number(length)));
}

function panicText(data: Hex): string | undefined {
  const code = word(data, 0);
  if (code === undefined || code > 255n) return undefined;
  return PANICS[Number(code)] ?? `a panic with code ${code}`;
}

function known(data: Hex): string | undefined {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: KNOWN_ERRORS, data }) as {
      errorName: string;
      args?: readonly (Address | Hex | bigint)[];
    };
    return `${errorName}(${args.map(String).join(', ')})`;
  } catch {
    return undefined;
  }
}

/**
 * What a call that failed said, as the end of a sentence such as `it reverts with …`: a text in quotes, a panic in
 * words, the name or selector of an error of its own, or `no reason`. What a contract says is foreign text: it is cut
 * and made one plain line. `data` may be the beginning of something longer.
 */
export function revertReason(data: Hex): string {
  if (data === '0x') return 'no reason';
  const shown = size(data) > MAX_SHOWN_BYTES ? `${sliceHex(data, 0, MAX_SHOWN_BYTES)}…` : data;
  if (size(data) < 4) return `something that is no reason: ${shown}`;
  const selector = sliceHex(data, 0, 4);
  const raw = `an error of its own: ${shown}`;
  if (selector === ERROR_SELECTOR) {
    const text = errorText(data);
    return text === undefined ? raw : plain(text);
  }
  if (selector === PANIC_SELECTOR) return panicText(data) ?? raw;
  return known(data) ?? raw;
}
