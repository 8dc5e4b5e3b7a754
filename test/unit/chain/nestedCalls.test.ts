import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, parseAbiParameters } from 'viem';
import { isRestricted, selectorOf } from '../../../src/chain/functions';
import { nestedCallsOf } from '../../../src/chain/nestedCalls';
import type { NestedCalls } from '../../../src/domain/transactionContent';
import { anAddress } from '../../support/builders';

const [CARRIER, ONE, TWO] = [anAddress() as Hex, anAddress() as Hex, anAddress() as Hex];
const NOBODY = `0x${'00'.repeat(20)}`;
const ZEROS = `0x${'00'.repeat(32)}`;
const SIGNATURE = 'settle(uint256)';
const [A, B] = ['0x12345678', '0x9abcdef001'] as const;

const encode = (declaration: string, ...args: unknown[]) =>
  encodeFunctionData({ abi: parseAbi([`function ${declaration}`] as readonly string[]), args } as never);
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const hex = (address: string) => address.slice(2).toLowerCase();
/** A transaction of MultiSend. */
const packed = (operation: number, to: string, value: bigint, data: string) =>
  `0${operation}${hex(to)}${word(value)}${word(BigInt(data.length / 2 - 1))}${data.slice(2)}`;

const carriedBy = (data: Hex) => nestedCallsOf({ to: CARRIER, value: 0n, data });

/** What is read, without the bytes. */
const shown = (calls: NestedCalls['calls']): object[] | null =>
  calls?.map(({ content, nested: carried }) => ({
    content,
    ...(carried.calls === null ? {} : { calls: shown(carried.calls) }),
  })) ?? null;
const read = (data: Hex) => shown(carriedBy(data).calls);
const call = (contractAddress: string, selector: string, value = 0n) => ({
  content: { type: 'CONTRACT_INTERACTION', contractAddress, selector, value },
});

describe('the calls that a call carries', () => {
  const [first, second] = ['0x12345678', '0x9abcdef0'];
  const others = [call(ONE, first), call(TWO, second)];
  const paid = [call(ONE, first, 1n), call(TWO, second, 2n)];
  const itself = [call(CARRIER, first), call(CARRIER, second)];
  const targets = [
    [ONE, A],
    [TWO, B],
  ];
  const lists = [
    [ONE, TWO],
    [1n, 2n],
    [A, B],
  ];

  it.each<[string, unknown[], object[]]>([
    ['multicall(bytes[])', [[A, B]], itself],
    ['multicall(uint256,bytes[])', [7n, [A, B]], itself],
    ['multicall(bytes32,bytes[])', [`0x${'0'.repeat(64)}`, [A, B]], itself],
    ['batchCalls(bytes[])', [[A, B]], itself],
    ['aggregate((address,bytes)[])', [targets], others],
    ['blockAndAggregate((address,bytes)[])', [targets], others],
    ['tryAggregate(bool,(address,bytes)[])', [true, targets], others],
    ['tryBlockAndAggregate(bool,(address,bytes)[])', [true, targets], others],
    ['aggregate3((address,bool,bytes)[])', [targets.map(([to, data]) => [to, true, data])], others],
    [
      'aggregate3Value((address,bool,uint256,bytes)[])',
      [targets.map(([to, data], i) => [to, true, BigInt(i + 1), data])],
      paid,
    ],
    [
      'aggregate((address,uint256,bytes)[])',
      [targets.map(([to, data], i) => [to, BigInt(i + 1), data])],
      paid,
    ],
    ['execute(address,uint256,bytes)', [ONE, 1n, A], paid.slice(0, 1)],
    ['executeCall(address,uint256,bytes)', [ONE, 1n, A], paid.slice(0, 1)],
    [
      'executeBatch((address,uint256,bytes)[])',
      [targets.map(([to, data], i) => [to, BigInt(i + 1), data])],
      paid,
    ],
    [
      'executeBatch(address[],bytes[])',
      [
        [ONE, TWO],
        [A, B],
      ],
      others,
    ],
    [
      'executeBatch(address[],uint256[],bytes[])',
      [
        [ONE, TWO],
        [1n, 2n],
        [A, B],
      ],
      paid,
    ],
    ['batch(bytes[])', [[A, B]], itself],
    ['batch(bytes[],bool)', [[A, B], true], itself],
    ['multicall((bool,bytes)[])', [[A, B].map((data) => [true, data])], itself],
    [
      'executeMetaTransaction(address,bytes,bytes32,bytes32,uint8)',
      [ONE, A, ZEROS, ZEROS, 27],
      itself.slice(0, 1),
    ],
    ['execute(address,uint256,bytes,uint8)', [ONE, 1n, A, 0], paid.slice(0, 1)],
    ['execute(uint256,address,uint256,bytes)', [0n, ONE, 1n, A], paid.slice(0, 1)],
    [
      'executeBatch((address,uint256,bytes)[],uint8)',
      [targets.map(([to, data], i) => [to, BigInt(i + 1), data]), 0],
      paid,
    ],
    ['executeBatch(uint256[],address[],uint256[],bytes[])', [[0n, 0n], ...lists], paid],
    [
      'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
      [ONE, 1n, A, 0, 0n, 0n, 0n, ONE, ONE, '0x'],
      paid.slice(0, 1),
    ],
    ['execTransactionFromModule(address,uint256,bytes,uint8)', [ONE, 1n, A, 0], paid.slice(0, 1)],
    ['execTransactionFromModuleReturnData(address,uint256,bytes,uint8)', [ONE, 1n, A, 0], paid.slice(0, 1)],
    ['multiSend(bytes)', [`0x${packed(0, ONE, 1n, A)}${packed(0, TWO, 2n, B)}`], paid],
    ['submitTransaction(address,uint256,bytes)', [ONE, 1n, A], paid.slice(0, 1)],
    ['relay(address,uint256,bytes)', [ONE, 1n, A], paid.slice(0, 1)],
    [
      'schedule(address,uint256,bytes,bytes32,bytes32,uint256)',
      [ONE, 1n, A, ZEROS, ZEROS, 0n],
      paid.slice(0, 1),
    ],
    ['execute(address,uint256,bytes,bytes32,bytes32)', [ONE, 1n, A, ZEROS, ZEROS], paid.slice(0, 1)],
    [
      'scheduleBatch(address[],uint256[],bytes[],bytes32,bytes32,uint256)',
      [...lists, ZEROS, ZEROS, 0n],
      paid,
    ],
    ['executeBatch(address[],uint256[],bytes[],bytes32,bytes32)', [...lists, ZEROS, ZEROS], paid],
    ['propose(address[],uint256[],bytes[],string)', [...lists, 'Pay'], paid],
    ['queue(address[],uint256[],bytes[],bytes32)', [...lists, ZEROS], paid],
    ['execute(address[],uint256[],bytes[],bytes32)', [...lists, ZEROS], paid],
    [
      'propose(address[],uint256[],string[],bytes[],string)',
      [[ONE, TWO], [1n, 2n], ['', SIGNATURE], [A, '0x01'], 'Pay'],
      [call(ONE, first, 1n), call(TWO, selectorOf(SIGNATURE), 2n)],
    ],
    ['queueTransaction(address,uint256,string,bytes,uint256)', [ONE, 1n, '', A, 0n], paid.slice(0, 1)],
    [
      'executeTransaction(address,uint256,string,bytes,uint256)',
      [ONE, 1n, SIGNATURE, '0x01', 0n],
      [call(ONE, selectorOf(SIGNATURE), 1n)],
    ],
    [
      'execute((address,address,uint256,uint256,uint256,bytes),bytes)',
      [[TWO, ONE, 1n, 0n, 0n, A], '0x'],
      paid.slice(0, 1),
    ],
    [
      'execute((address,address,uint256,uint256,uint256,bytes,uint256),bytes)',
      [[TWO, ONE, 1n, 0n, 0n, A, 1n], '0x'],
      paid.slice(0, 1),
    ],
    [
      'execute((address,address,uint256,uint256,uint48,bytes,bytes))',
      [[TWO, ONE, 1n, 0n, 0, A, '0x']],
      paid.slice(0, 1),
    ],
    [
      'executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)',
      [targets.map(([to, data], i) => [TWO, to, BigInt(i + 1), 0n, 0, data, '0x']), NOBODY],
      paid,
    ],
    [
      'executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)',
      [targets.map(([to, data]) => [TWO, to, 0n, 0n, 0, data, '0x']), ONE],
      others,
    ],
    ['call(address,address,uint256,bytes)', [ONE, TWO, 1n, A], paid.slice(0, 1)],
    [
      'batch((address,address,uint256,bytes)[])',
      [targets.map(([to, data], i) => [to, TWO, BigInt(i + 1), data])],
      paid,
    ],
    ...['execute(bytes32,bytes)', 'executeFromExecutor(bytes32,bytes)'].flatMap(
      (declaration): [string, unknown[], object[]][] => [
        [declaration, [`0x00${'00'.repeat(31)}`, `0x${hex(ONE)}${word(1n)}${A.slice(2)}`], paid.slice(0, 1)],
        [
          declaration,
          [
            `0x0101${'00'.repeat(30)}`,
            encodeAbiParameters(parseAbiParameters('(address,uint256,bytes)[]'), [
              [
                [ONE, 1n, A],
                [TWO, 2n, B],
              ],
            ] as never),
          ],
          paid,
        ],
      ],
    ),
  ])('are read from %s', (declaration, args, expected) => {
    const data = encode(declaration, ...args);
    expect(read(data)).toEqual(expected);
    expect(read(data.toUpperCase().replace('0X', '0x') as Hex)).toEqual(expected);
    expect(isRestricted(data.slice(0, 10))).toBe(true);
    for (const damaged of [`${data}00`, data.slice(0, -2), data.slice(0, 10)])
      expect(read(damaged as Hex)).toBeNull();
  });

  it('are read with those that they carry', () => {
    const inner = encode('multicall(bytes[])', [A]);
    expect(read(encode('aggregate((address,bytes)[])', [[ONE, inner]]))).toEqual([
      { ...call(ONE, '0xac9650d8'), calls: [call(ONE, first)] },
    ]);
  });

  it.each<[string, Hex]>([
    ['of no function', '0x'],
    ['of a function that carries none', `0x42966c68${'0'.repeat(64)}`],
    ['of a delegatecall', encode('multiSend(bytes)', `0x${packed(1, ONE, 0n, A)}`)],
    [
      'of a delegatecall beside a call',
      encode('multiSend(bytes)', `0x${packed(0, ONE, 0n, A)}${packed(1, ONE, 0n, A)}`),
    ],
    ['of half a transaction', encode('multiSend(bytes)', `0x${packed(0, ONE, 0n, A).slice(0, -2)}`)],
    ['of less than a transaction', encode('multiSend(bytes)', '0x00')],
    [
      'of a transaction of 2^256-1 bytes',
      encode('multiSend(bytes)', `0x00${hex(ONE)}${word(0n)}${'ff'.repeat(32)}`),
    ],
    [
      'of a delegatecall of a token bound account',
      encode('execute(address,uint256,bytes,uint8)', ONE, 0n, A, 1),
    ],
    ['of a creation', encode('execute(uint256,address,uint256,bytes)', 1n, ONE, 0n, A)],
    [
      'of a Safe that pays a refund',
      encode(
        'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
        ...[ONE, 0n, A, 0, 0n, 0n, 1n, ONE, ONE, '0x'],
      ),
    ],
    [
      'of a batch of a forwarder that refunds value to an address',
      encode(
        'executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)',
        [
          [TWO, ONE, 0n, 0n, 0, A, '0x'],
          [TWO, ONE, 1n, 0n, 0, A, '0x'],
        ],
        TWO,
      ),
    ],
    // The forwarder writes the address of the sender behind them, which may begin with the rest of a selector.
    ...['0x', '0x095ea7'].flatMap((data): [string, Hex][] => [
      [
        `of a forwarder with ${data}`,
        encode(
          'execute((address,address,uint256,uint256,uint256,bytes),bytes)',
          [TWO, ONE, 1n, 0n, 0n, data],
          '0x',
        ),
      ],
      [
        `of a forwarder's later version with ${data}`,
        encode('execute((address,address,uint256,uint256,uint48,bytes,bytes))', [
          TWO,
          ONE,
          1n,
          0n,
          0,
          data,
          '0x',
        ]),
      ],
      [
        `of a batch of a forwarder with ${data}`,
        encode(
          'executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)',
          [
            [TWO, ONE, 0n, 0n, 0, A, '0x'],
            [TWO, ONE, 0n, 0n, 0, data, '0x'],
          ],
          NOBODY,
        ),
      ],
      [
        `of a meta transaction with ${data}`,
        encode('executeMetaTransaction(address,bytes,bytes32,bytes32,uint8)', TWO, data, ZEROS, ZEROS, 27),
      ],
    ]),
    [
      'of a delegatecall of a Safe',
      encode(
        'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
        ...[ONE, 0n, A, 1, 0n, 0n, 0n, ONE, ONE, '0x'],
      ),
    ],
    [
      'of a delegatecall by mode',
      encode('execute(bytes32,bytes)', `0xff${'00'.repeat(31)}`, `0x${hex(ONE)}${A.slice(2)}`),
    ],
    [
      'of a mode with data of its own',
      encode('execute(bytes32,bytes)', `0x0100000000007821${'00'.repeat(24)}`, ZEROS),
    ],
    ['of a batch that is none', encode('execute(bytes32,bytes)', `0x01${'00'.repeat(31)}`, ZEROS)],
    ['of a program', encode('execute(bytes,bytes[],uint256)', '0x00', [A], 0n)],
    ['of lists of different lengths', encode('executeBatch(address[],bytes[])', [ONE, TWO], [A])],
    ['with a transfer that is malformed', encode('multicall(bytes[])', ['0xa9059cbb'])],
    ['to the zero address', encode('execute(address,uint256,bytes)', `0x${'0'.repeat(40)}`, 0n, A)],
    [
      'of more than 256 calls',
      encode(
        'multicall(bytes[])',
        Array.from({ length: 257 }, () => A),
      ),
    ],
  ])('are not read: %s', (_, data) => {
    expect(read(data)).toBeNull();
  });

  it('are read up to 256 in all, nested ones included', () => {
    const inner = encode(
      'multicall(bytes[])',
      Array.from({ length: 127 }, () => A),
    );
    expect(
      read(
        encode(
          'multicall(bytes[])',
          Array.from({ length: 256 }, () => A),
        ),
      ),
    ).toHaveLength(256);
    expect(
      read(encode('multicall(bytes[])', [inner, inner]))?.map(
        (one) => (one as { calls?: object[] }).calls?.length,
      ),
    ).toEqual([127, 127]);
    expect(read(encode('multicall(bytes[])', [inner, inner, A]))).toBeNull();
  });
});

describe('what the bytes of a call mention', () => {
  const [APPROVE, MULTICALL] = ['095ea7b3', 'ac9650d8'];
  const approve = `${APPROVE}${hex(ONE).padStart(64, '0')}${'ff'.repeat(32)}`;
  const mentions = (data: string) => carriedBy(data as Hex).mentions;

  it.each<[string, string, string]>([
    ['bytes', encode('run(bytes)', `0x${approve}`), 'approve(address,uint256)'],
    [
      'an array of bytes',
      encode('run(bytes[],uint256)', [A, `0x${approve}`], 1n),
      'approve(address,uint256)',
    ],
    ['packed bytes', `0x12345678aabbcc${approve}`, 'approve(address,uint256)'],
    ['bytes of a fallback, packed after its target', `0x${hex(ONE)}${approve}`, 'approve(address,uint256)'],
    ['bytes that begin within the selector', `0x12${approve}`, 'approve(address,uint256)'],
    [
      'upper case',
      encode('run(bytes)', `0x${approve}`).toUpperCase().replace('0X', '0x'),
      'approve(address,uint256)',
    ],
    ['dirty words', `0x12345678${APPROVE}${'ff'.repeat(64)}`, 'approve(address,uint256)'],
    [
      'a selector apart from its parameters',
      encode('run(address,bytes4,bytes)', ONE, `0x${APPROVE}`, '0x01'),
      'approve(address,uint256)',
    ],
    [
      'a signature',
      encode('run(address,string,bytes)', ONE, 'approve(address,uint256)', '0x01'),
      'approve(address,uint256)',
    ],
    ['a carrier', encode('run(bytes)', `0x${MULTICALL}`), 'multicall(bytes[])'],
    ['a token transfer', encode('run(bytes)', '0xa9059cbb'), 'transfer(address,uint256)'],
    ['the last four bytes', `0x12345678${APPROVE}`, 'approve(address,uint256)'],
  ])('is a restricted function in %s', (_, data, signature) => {
    expect(mentions(data)).toBe(signature);
  });

  it.each<[string, string]>([
    ['its own function', `0x${approve}`],
    ['three bytes of a selector', `0x12345678${APPROVE.slice(0, 6)}`],
    ['a function that is not restricted', encode('run(bytes)', '0x42966c68')],
    ['a name without its types', encode('run(string)', 'approve(uint256)')],
    ['part of a signature', encode('run(string)', 'approve(address,uint')],
    ['zeros', `0x12345678${'00'.repeat(320)}`],
    ['a small number that is a selector, padded', encode('run(uint256)', 0x189an)],
    ['no function', '0x'],
    ['what its calls are', encode('multicall(bytes[])', [`0x${approve}`, `0x${approve}`])],
    [
      'what the calls of its calls are',
      encode('multicall(bytes[])', [encode('multicall(bytes[])', [`0x${approve}`])]),
    ],
    [
      'the function of a call that is signed as a text',
      encode(
        'queueTransaction(address,uint256,string,bytes,uint256)',
        ONE,
        0n,
        'approve(address,uint256)',
        A,
        0n,
      ),
    ],
  ])('is not %s', (_, data) => {
    expect(mentions(data)).toBeNull();
  });

  it('is found beside the calls that are read', () => {
    const salted = encode(
      'execute(address,uint256,bytes,bytes32,bytes32)',
      ONE,
      0n,
      `0x${approve}`,
      `0x${APPROVE.padEnd(64, '0')}`,
      ZEROS,
    );
    expect(mentions(salted)).toBe('approve(address,uint256)');
  });

  // Each byte is read once: a search that begins again at each of them would take hours.
  it.each([
    ['the selector of approve', APPROVE, 'approve(address,uint256)'],
    ['the end of a written signature', '6f766528', 'approve(address,uint256)'],
    ['a bracket', '28', 'approve(address,uint256)'],
    ['the selector of multicall', MULTICALL, 'multicall(bytes[])'],
    ['zeros', '00', 'approve(address,uint256)'],
  ])('is found at the end of 128 KiB of %s', (_, filling, expected) => {
    const fill = filling.repeat((262_136 - approve.length) / filling.length);
    expect(mentions(`0x12345678${fill}${approve}`)).toBe(expected);
  });
});
