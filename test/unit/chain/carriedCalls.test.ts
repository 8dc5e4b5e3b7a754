import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { carriedCalls } from '../../../src/chain/carriedCalls';
import { isRestricted } from '../../../src/chain/functions';
import { anAddress } from '../../support/builders';

const [CARRIER, ONE, TWO] = [anAddress() as Hex, anAddress() as Hex, anAddress() as Hex];
const [A, B] = ['0x12345678', '0x9abcdef001'] as const;

const encode = (declaration: string, ...args: unknown[]) =>
  encodeFunctionData({ abi: parseAbi([`function ${declaration}`] as readonly string[]), args } as never);
const read = (data: Hex) => carriedCalls({ to: CARRIER, value: 0n, data });
const call = (contractAddress: string, selector: string, value = 0n) => ({
  content: { type: 'CONTRACT_INTERACTION', contractAddress, selector, value },
  carried: null,
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
    ['execute(address,uint256,bytes)', [ONE, 1n, A], paid.slice(0, 1)],
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
      { ...call(ONE, '0xac9650d8'), carried: [call(ONE, first)] },
    ]);
  });

  it.each<[string, Hex]>([
    ['of no function', '0x'],
    ['of a function that carries none', `0x42966c68${'0'.repeat(64)}`],
    ['of a delegatecall', encode('multiSend(bytes)', '0x')],
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
    expect(read(encode('multicall(bytes[])', [inner, inner]))?.map(({ carried }) => carried?.length)).toEqual(
      [127, 127],
    );
    expect(read(encode('multicall(bytes[])', [inner, inner, A]))).toBeNull();
  });
});
