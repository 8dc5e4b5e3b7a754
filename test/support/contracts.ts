import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  size,
  toEventSelector,
  toFunctionSelector,
} from 'viem';

const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  LT: 0x10,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  XOR: 0x18,
  SHL: 0x1b,
  SHR: 0x1c,
  ADDRESS: 0x30,
  ORIGIN: 0x32,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  EXTCODESIZE: 0x3b,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  SELFBALANCE: 0x47,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  DUP4: 0x83,
  DUP7: 0x86,
  SWAP1: 0x90,
  SWAP2: 0x91,
  LOG3: 0xa3,
  LOG4: 0xa4,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  REVERT: 0xfd,
  INVALID: 0xfe,
};

const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSH2 = 0x61;

/**
 * Makes runtime code of a text: names of opcodes, numbers in hex that are pushed, `@label` that pushes the place of
 * `label:`, `@data` the place of the data behind the code.
 */
function assemble(text: string, data: Hex = '0x'): Hex {
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  const places = new Map<string, number>();
  const pieces: (number | string)[] = [];
  let at = 0;
  for (const token of tokens) {
    if (token.endsWith(':')) {
      places.set(token.slice(0, -1), at);
      pieces.push(JUMPDEST);
      at += 1;
    } else if (token.startsWith('@')) {
      pieces.push(PUSH2, token);
      at += 3;
    } else if (token.startsWith('0x')) {
      const digits = token.length % 2 === 0 ? token.slice(2) : `0${token.slice(2)}`;
      pieces.push(PUSH1 + digits.length / 2 - 1, ...Buffer.from(digits, 'hex'));
      at += 1 + digits.length / 2;
    } else {
      const code = OPCODES[token];
      if (code === undefined) throw new Error(`there is no opcode ${token}`);
      pieces.push(code);
      at += 1;
    }
  }
  places.set('data', at);
  const code = pieces.map((piece) => {
    if (typeof piece === 'number') return numberToHex(piece, { size: 1 });
    const place = places.get(piece.slice(1));
    if (place === undefined) throw new Error(`there is no label ${piece}`);
    return numberToHex(place, { size: 2 });
  });
  return concatHex([...code, data]);
}

/** Runtime code that runs the text for each of these functions, and for anything else reverts without a reason. */
export function contract(functions: { readonly [signature: string]: string }, data: Hex = '0x'): Hex {
  const entries = Object.entries(functions);
  const table = entries.map(([signature], i) => `DUP1 ${toFunctionSelector(signature)} EQ @f${i} JUMPI`);
  const bodies = entries.map(([, body], i) => `f${i}: POP ${body.replaceAll('$', `f${i}_`)}`);
  return assemble(`0x0 CALLDATALOAD 0xe0 SHR ${table.join(' ')} 0x0 0x0 REVERT ${bodies.join(' ')}`, data);
}

function store(bytes: Hex): string {
  const words = bytes.slice(2).match(/.{1,64}/g) ?? [];
  return words.map((word, i) => `0x${word.padEnd(64, '0')} 0x${(32 * i).toString(16)} MSTORE`).join(' ');
}

/** Ends a call with these bytes. */
export const answer = (bytes: Hex) => `${store(bytes)} 0x${size(bytes).toString(16)} 0x0 RETURN`;
/** Ends a call by reverting with these bytes. */
const revertWith = (bytes: Hex) => `${store(bytes)} 0x${size(bytes).toString(16)} 0x0 REVERT`;

/** What Solidity makes of `revert("…")`. */
export const errorBytes = (text: string) =>
  concatHex(['0x08c379a0', encodeAbiParameters([{ type: 'string' }], [text])]);
/** What Solidity makes of a failed check of its own. */
export const panicBytes = (code: bigint) => concatHex(['0x4e487b71', numberToHex(code, { size: 32 })]);

/** A string as the ABI encodes it alone. */
const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);
/** A word of 32 bytes. */
export const word = (value: bigint) => numberToHex(value, { size: 32 });
export const RETURN_TRUE = answer(word(1n));

/** Takes the amount off the sender and gives it to the recipient, less a fee in percent; balances stand at their addresses. */
const move = (feePercent = 0) => `
  CALLER SLOAD 0x24 CALLDATALOAD GT @$poor JUMPI
  0x24 CALLDATALOAD CALLER SLOAD SUB CALLER SSTORE
  0x64 0x${(100 - feePercent).toString(16)} 0x24 CALLDATALOAD MUL DIV 0x4 CALLDATALOAD SLOAD ADD 0x4 CALLDATALOAD SSTORE
  @$moved JUMP
  $poor: ${revertWith(errorBytes('transfer amount exceeds balance'))}
  $moved:`;

/** Tells of a transfer of the amount. */
const TELL_TRANSFER = `0x24 CALLDATALOAD 0x0 MSTORE
  0x4 CALLDATALOAD CALLER ${toEventSelector('Transfer(address,address,uint256)')} 0x20 0x0 LOG3`;

/** A token whose `transfer` does what the text says. */
export function token(transfer: string, data: Hex = '0x'): Hex {
  return contract(
    {
      'transfer(address,uint256)': transfer,
      'balanceOf(address)': '0x4 CALLDATALOAD SLOAD 0x0 MSTORE 0x20 0x0 RETURN',
      'symbol()': answer(string('TOK')),
      'name()': answer(string('A Token')),
      'decimals()': answer(word(6n)),
    },
    data,
  );
}

/** Where a token of these keeps the balance of an address. */
export const balanceSlot = (address: Hex) => numberToHex(BigInt(address), { size: 32 });

const GAS_HUNGRY = 200_000n;

/** Tokens as they are found in the wild, and worse. */
export const TOKENS = {
  plain: token(`${move()} ${TELL_TRANSFER} ${RETURN_TRUE}`),
  returningNothing: token(`${move()} ${TELL_TRANSFER} STOP`),
  returningFalse: token(answer(word(0n))),
  returningFalseAfterMoving: token(`${move()} ${TELL_TRANSFER} ${answer(word(0n))}`),
  returningTwo: token(`${move()} ${TELL_TRANSFER} ${answer(word(2n))}`),
  returningOneByte: token(`${move()} ${TELL_TRANSFER} ${answer('0x01')}`),
  returningMegabyte: token(`${move()} ${TELL_TRANSFER} 0x1 0x0 MSTORE 0x100000 0x0 RETURN`),
  returning32Megabytes: token(`${move()} ${TELL_TRANSFER} 0x1 0x0 MSTORE 0x2000000 0x0 RETURN`),
  takingFee: token(`${move(10)} ${TELL_TRANSFER} ${RETURN_TRUE}`),
  revertingWithReason: token(revertWith(errorBytes('paused by its owner'))),
  revertingWithError: token(revertWith(concatHex([toFunctionSelector('Blocked(address)'), word(7n)]))),
  revertingWithPanic: token(revertWith(panicBytes(0x11n))),
  revertingWithNothing: token('0x0 0x0 REVERT'),
  revertingWithNonsense: token(revertWith('0xdead')),
  withoutEvent: token(`${move()} ${RETURN_TRUE}`),
  burningGas: token('INVALID'),
  looping: token('$again: @$again JUMP'),
  /** Moves something only where gas is plenty, and says that all is well in any case. */
  lazy: token(
    `GAS ${numberToHex(GAS_HUNGRY)} GT @$lazy JUMPI ${move()} ${TELL_TRANSFER} $lazy: ${RETURN_TRUE}`,
  ),
} as const;

/** A token that logs a transfer which nobody makes, as often as its caller says; `more`: what it answers besides. */
export function loggingToken(more: { readonly [signature: string]: string } = {}): Hex {
  return contract({
    'log(address,address,uint256,uint256)': `0x44 CALLDATALOAD 0x0 MSTORE 0x64 CALLDATALOAD
      $next: DUP1 ISZERO @$done JUMPI
      0x24 CALLDATALOAD 0x4 CALLDATALOAD ${toEventSelector('Transfer(address,address,uint256)')} 0x20 0x0 LOG3
      0x1 SWAP1 SUB @$next JUMP
      $done: STOP`,
    ...more,
  });
}

/** The call that has a token log a transfer. */
export const logTransfer = (from: Hex, to: Hex, amount: bigint, times = 1n) =>
  encodeFunctionData({
    abi: parseAbi(['function log(address, address, uint256, uint256)']),
    args: [from, to, amount, times],
  });

/** A contract that logs transfers of ERC-721 and ERC-1155 tokens which nobody makes, and has these texts. */
export const loggingCollection = (texts: { readonly [signature: string]: string }) =>
  contract({
    'log721(address,address,uint256)': `0x44 CALLDATALOAD 0x24 CALLDATALOAD 0x4 CALLDATALOAD
      ${toEventSelector('Transfer(address,address,uint256)')} 0x0 0x0 LOG4 STOP`,
    'log1155(address,address,uint256,uint256)': `0x44 CALLDATALOAD 0x0 MSTORE 0x64 CALLDATALOAD 0x20 MSTORE
      0x24 CALLDATALOAD 0x4 CALLDATALOAD CALLER
      ${toEventSelector('TransferSingle(address,address,address,uint256,uint256)')} 0x40 0x0 LOG4 STOP`,
    ...texts,
  });

/** The call that has such a contract log one: of ERC-1155 with an amount. */
export const logTokenTransfer = (from: Hex, to: Hex, tokenId: bigint, amount?: bigint) =>
  amount === undefined
    ? encodeFunctionData({
        abi: parseAbi(['function log721(address, address, uint256)']),
        args: [from, to, tokenId],
      })
    : encodeFunctionData({
        abi: parseAbi(['function log1155(address, address, uint256, uint256)']),
        args: [from, to, tokenId, amount],
      });

/** A token that, while it transfers, calls its caller with these bytes, and goes on whatever comes of it. */
export function reenteringToken(bytes: Hex): Hex {
  const length = `0x${size(bytes).toString(16)}`;
  return token(
    `${move()} ${length} @data 0x0 CODECOPY 0x0 0x0 ${length} 0x0 0x0 CALLER GAS CALL POP ${TELL_TRANSFER} ${RETURN_TRUE}`,
    bytes,
  );
}

/** Counts in its first slot; `set` sets it, `fail` reverts, and `increment` accepts native currency. */
export const COUNTER = contract({
  'increment()': '0x1 0x0 SLOAD ADD 0x0 SSTORE STOP',
  'set(uint256)': '0x4 CALLDATALOAD 0x0 SSTORE STOP',
  /** Reverts while the counter holds less than this. */
  'demand(uint256)': `0x4 CALLDATALOAD 0x0 SLOAD LT @$less JUMPI STOP $less: ${revertWith(errorBytes('the counter is too low'))}`,
  /** Counts where it holds at least this, else reverts. */
  'incrementFrom(uint256)': `0x4 CALLDATALOAD 0x0 SLOAD LT @$less JUMPI 0x1 0x0 SLOAD ADD 0x0 SSTORE STOP $less: ${revertWith(errorBytes('the counter is too low'))}`,
  'fail()': revertWith(errorBytes('it always fails')),
  'value()': '0x0 SLOAD 0x0 MSTORE 0x20 0x0 RETURN',
});

/** Makes calls one after the other, whatever comes of each: `multicallData` says which. */
export const MULTICALL = assemble(`
  0x0
  next: DUP1 CALLDATASIZE GT ISZERO @done JUMPI
    DUP1 0x20 ADD CALLDATALOAD
    DUP1 DUP3 0x40 ADD 0x0 CALLDATACOPY
    0x0 0x0 DUP3 0x0 0x0 DUP7 CALLDATALOAD GAS CALL POP
    ADD 0x40 ADD @next JUMP
  done: STOP`);

/** Calldata of a multicall. */
export const multicallData = (calls: readonly { to: Hex; data: Hex }[]) =>
  concatHex(calls.flatMap(({ to, data }) => [word(BigInt(to)), word(BigInt(size(data))), data]));

/** Keeps ten records of what it receives, as a wallet that is a contract may: that takes some gas. */
export const RECORDING_WALLET = assemble(
  `${Array.from({ length: 10 }, (_, i) => `CALLVALUE 0x${i.toString(16)} SSTORE`).join(' ')} STOP`,
);

/** Passes on what it receives, whatever comes of it: with too little gas nothing arrives, and the call succeeds. */
export const forwarder = (to: Hex) => assemble(`0x0 0x0 0x0 0x0 CALLVALUE ${to} GAS CALL POP STOP`);

/** Passes on what it receives while it is open, else reverts; a word as calldata opens it, and zero closes it. */
export const gate = (to: Hex) =>
  assemble(`CALLDATASIZE @set JUMPI 0x0 SLOAD ISZERO @closed JUMPI
    0x0 0x0 0x0 0x0 CALLVALUE ${to} GAS CALL POP STOP
    set: 0x0 CALLDATALOAD 0x0 SSTORE STOP
    closed: ${revertWith(errorBytes('it is closed'))}`);
