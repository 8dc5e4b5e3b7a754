import { type AbiFunction, parseAbi, toFunctionSignature } from 'viem';
import { once } from '../once';
import { textHash } from './keccak';
import { type FunctionGroup, RESTRICTED_FUNCTIONS } from './restrictedFunctions';

/** A function of a standard, with the names of its parameters: enough to decode a call of it. */
export interface StandardFunction {
  /** Such as `transfer(address,uint256)`. */
  readonly signature: string;
  /** 4 bytes as lower-case 0x hex. */
  readonly selector: string;
  readonly abi: AbiFunction;
  /** It grants rights, moves assets or carries calls: permitted only by a policy that names it. */
  readonly restricted: boolean;
}

/** Functions that "any function" of a policy covers. Policies treat `transfer` as a token transfer, not as a call. */
const UNRESTRICTED_FUNCTIONS: readonly FunctionGroup[] = [
  {
    source: 'ERC-20, and additions of OpenZeppelin Contracts',
    functions: [
      'transfer(address to, uint256 value)',
      'decreaseAllowance(address spender, uint256 subtractedValue)',
      'decreaseApproval(address spender, uint256 subtractedValue)',
      'burn(uint256 value)',
      'burnFrom(address account, uint256 value)',
      'pause()',
      'unpause()',
    ],
  },
  { source: 'ERC-777', functions: ['revokeOperator(address operator)'] },
  {
    source: 'Uniswap Permit2: IAllowanceTransfer',
    structs: ['struct TokenSpenderPair { address token; address spender; }'],
    functions: ['lockdown(TokenSpenderPair[] approvals)'],
  },
  {
    source: 'ERC-173 and AccessControl of OpenZeppelin Contracts',
    functions: [
      'acceptOwnership()',
      'renounceOwnership()',
      'revokeRole(bytes32 role, address account)',
      'renounceRole(bytes32 role, address account)',
    ],
  },
  { source: 'WETH9', functions: ['deposit()', 'withdraw(uint256 value)'] },
  {
    source: 'ERC-165, ERC-20, ERC-721 and ERC-1155: reading',
    functions: [
      'supportsInterface(bytes4 interfaceId)',
      'balanceOf(address account)',
      'balanceOf(address account, uint256 id)',
      'allowance(address owner, address spender)',
      'totalSupply()',
      'ownerOf(uint256 tokenId)',
    ],
  },
];

/** The first 4 bytes of the hash of a canonical signature. Source: Solidity ABI specification, "Function Selector". */
export function selectorOf(signature: string): string {
  return textHash(signature).slice(0, 10);
}

/** The functions of a group, with the structs that they take. */
function functionsOf({ structs = [], functions }: FunctionGroup, restricted: boolean): StandardFunction[] {
  const declarations: readonly string[] = functions.map((declaration) => `function ${declaration}`);
  const abis = parseAbi([...structs, ...declarations]) as readonly AbiFunction[];
  return abis.map((abi) => {
    const signature = toFunctionSignature(abi);
    return { signature, selector: selectorOf(signature), abi, restricted };
  });
}

/** The functions of standards and of widely used contracts, by selector. They are read when they are needed first: they are many. */
export const standardFunctions: () => ReadonlyMap<string, StandardFunction> = once(
  () =>
    new Map(
      [
        ...RESTRICTED_FUNCTIONS.flatMap((group) => functionsOf(group, true)),
        ...UNRESTRICTED_FUNCTIONS.flatMap((group) => functionsOf(group, false)),
      ].map((known) => [known.selector, known]),
    ),
);

/** True for the selector of a function that only a policy that names it permits. */
export function isRestricted(selector: string): boolean {
  return standardFunctions().get(selector)?.restricted ?? false;
}

/** A function that a policy names. */
export interface NamedFunction {
  /** Its name without parameters; absent for a selector of no standard function. */
  readonly name?: string;
  /** 4 bytes as lower-case 0x hex. */
  readonly selector: string;
}

/** Longest signature that is read, in characters. */
export const MAX_SIGNATURE_LENGTH = 1_000;

const SELECTOR = /^0x[0-9a-fA-F]{8}$/;
const NAME = '[a-zA-Z_$][a-zA-Z0-9_$]*';
const BARE_NAME = new RegExp(`^${NAME}$`);
const TOKENS = new RegExp(`\\s*(?:(${NAME})|([(),])|((?:\\[[0-9]*\\])+))\\s*`, 'y');
const ARRAY = /^(\[([1-9][0-9]*)?\])+$/;
const FIXED_TYPES = new Set(['address', 'bool', 'bytes', 'string', 'function']);
/** Short types of Solidity and what they stand for. */
const ALIASES: Readonly<Record<string, string>> = { uint: 'uint256', int: 'int256', byte: 'bytes1' };

function isElementary(type: string): boolean {
  const [, kind, digits = ''] = /^(uint|int|bytes)([1-9][0-9]*)$/.exec(type) ?? [];
  const width = Number(digits);
  if (kind === 'bytes') return width <= 32;
  if (kind !== undefined) return width <= 256 && width % 8 === 0;
  return FIXED_TYPES.has(type);
}

/** What may follow the parameters where a function is declared. */
const AFTER_PARAMETERS = new Set(['external', 'public', 'payable', 'view', 'pure', 'returns']);

/** The text is not a function signature; `message` says why. */
class Malformed extends Error {
  override readonly name = 'Malformed';
}

/** Splits a signature into names, punctuation and array suffixes, without the space between them. */
function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < text.length) {
    const at = TOKENS.lastIndex;
    const found = TOKENS.exec(text);
    if (!found) throw new Malformed(`has an unexpected ${JSON.stringify([...text.slice(at)][0])}`);
    tokens.push(found[1] ?? found[2] ?? found[3] ?? '');
  }
  return tokens;
}

/**
 * Reads a signature as people write it: with spaces, names of parameters, short types, or a whole declaration. Returns
 * its canonical form. Throws Malformed.
 *
 * Not abitype's parser: it keeps every parameter that it has read in a cache that never shrinks, so that clients could
 * fill the memory, and it accepts array lengths that no compiler does (`[0]`, `[01]`).
 */
function canonicalSignature(text: string): string {
  const tokens = tokenize(text);
  let next = 0;
  const peek = () => tokens[next];
  const take = () => tokens[next++];
  const isName = (token: string | undefined) => token !== undefined && BARE_NAME.test(token);

  function suffix(): string {
    const token = peek();
    if (token === undefined || !token.startsWith('[')) return '';
    if (!ARRAY.test(token)) throw new Malformed(`has an invalid array length ${token}`);
    next += 1;
    return token;
  }

  function type(): string {
    if (peek() === 'tuple' && tokens[next + 1] === '(') next += 1;
    if (peek() === '(') return `${list()}${suffix()}`;
    const word = take();
    if (!isName(word) || word === undefined) throw new Malformed('has a parameter without a type');
    const canonical = Object.hasOwn(ALIASES, word) ? ALIASES[word] : word;
    if (canonical === undefined || !isElementary(canonical)) {
      throw new Malformed(`has a parameter of the unknown type ${word}`);
    }
    return `${canonical}${suffix()}`;
  }

  function list(): string {
    next += 1;
    const types: string[] = [];
    if (peek() === ')') {
      next += 1;
      return '()';
    }
    for (;;) {
      types.push(type());
      while (isName(peek())) next += 1;
      const token = take();
      if (token === ')') return `(${types.join(',')})`;
      if (token !== ',') throw new Malformed('has unbalanced parentheses');
    }
  }

  if (peek() === 'function' && isName(tokens[1])) next += 1;
  const name = take();
  if (!isName(name) || peek() !== '(')
    throw new Malformed('must be a function signature or a 4-byte selector');
  const parameters = list();
  const after = peek();
  if (after !== undefined && !AFTER_PARAMETERS.has(after)) {
    throw new Malformed('has unexpected text after its parameters');
  }
  return `${name}${parameters}`;
}

/** The function that a text names, or why it names none. */
type ParsedFunction =
  | { readonly ok: true; readonly function: NamedFunction }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads an entry of `allowedFunctions`: a full signature in canonical form (`mint(address,uint256)`) or a 4-byte
 * selector (`0x40c10f19`). A bare name has no selector. A signature that only shares its selector with a standard
 * function is refused: whoever signs for the one would allow the other.
 */
export function parseFunction(text: string): ParsedFunction {
  const refuse = (reason: string): ParsedFunction => ({ ok: false, reason });
  if (text.length > MAX_SIGNATURE_LENGTH)
    return refuse(`must have at most ${MAX_SIGNATURE_LENGTH} characters`);
  if (SELECTOR.test(text)) {
    const selector = text.toLowerCase();
    const name = standardFunctions().get(selector)?.abi.name;
    return { ok: true, function: name === undefined ? { selector } : { name, selector } };
  }
  if (/^0x/i.test(text) && !text.includes('(')) return refuse('a selector must be 0x and 8 hex digits');
  if (BARE_NAME.test(text)) {
    return refuse(
      `a bare name has no selector; write its parameter types as well, as in ${text}(address,uint256)`,
    );
  }
  let canonical: string;
  try {
    canonical = canonicalSignature(text);
  } catch (error) {
    if (error instanceof Malformed) return refuse(error.message);
    throw error;
  }
  if (canonical !== text) return refuse(`is not in canonical form; write ${canonical}`);
  const selector = selectorOf(text);
  const known = standardFunctions().get(selector);
  if (known && known.signature !== text) {
    return refuse(
      `has the selector ${selector} of the standard function ${known.signature} but is another function`,
    );
  }
  return { ok: true, function: { name: text.slice(0, text.indexOf('(')), selector } };
}
