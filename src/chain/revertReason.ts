import { type Address, decodeErrorResult, type Hex, parseAbi, size, sliceHex } from 'viem';

/** Longest text of a contract that is shown, in code points. */
const MAX_TEXT_LENGTH = 200;
/** Bytes of unknown revert data that are shown. */
const MAX_SHOWN_BYTES = 36;

/** `Error(string)` and `Panic(uint256)`. Source: Solidity, "Error handling". */
const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

const PANICS: Readonly<Record<number, string>> = {
  0: 'generic compiler panic',
  1: 'assertion failed',
  17: 'arithmetic overflow or underflow',
  18: 'division by zero',
  33: 'invalid enum value',
  34: 'invalid storage byte array',
  49: 'pop from an empty array',
  50: 'array index out of bounds',
  65: 'out of memory',
  81: 'call of an uninitialized function',
};

/** Errors of token standards and of widely used contracts. Sources: ERC-6093, OpenZeppelin. */
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

const UNPRINTABLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]+/gu;

/** Untrusted text made safe to show: one line without control characters, truncated, in quotes. */
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

/** The text of `Error(string)`; truncated where the data is. Undefined for other data. */
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
  const meaning = PANICS[Number(code)];
  const panic = `panic 0x${code.toString(16).padStart(2, '0')}`;
  return meaning === undefined ? panic : `${panic} (${meaning})`;
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
 * Why a call reverted, as the end of a sentence such as `it reverts with …`: a text in quotes, a panic with its meaning,
 * the name or data of a custom error, or `no reason`. What a contract returns is untrusted: it is truncated and made one
 * plain line. `data` may be truncated.
 */
export function revertReason(data: Hex): string {
  if (data === '0x') return 'no reason';
  const shown = size(data) > MAX_SHOWN_BYTES ? `${sliceHex(data, 0, MAX_SHOWN_BYTES)}…` : data;
  if (size(data) < 4) return `malformed revert data: ${shown}`;
  const selector = sliceHex(data, 0, 4);
  const raw = `a custom error: ${shown}`;
  if (selector === ERROR_SELECTOR) {
    const text = errorText(data);
    return text === undefined ? raw : plain(text);
  }
  if (selector === PANIC_SELECTOR) return panicText(data) ?? raw;
  return known(data) ?? raw;
}
