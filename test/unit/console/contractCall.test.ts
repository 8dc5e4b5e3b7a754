import type { AbiFunction } from 'viem';
import {
  calldataOf,
  distinctFunctions,
  readAbi,
  readArgument,
  signatureOf,
} from '../../../console/src/domain/contractCall.ts';

const ADDRESS = '0xee6DE14e090B63f2647225Af2AcF53d6d5c2688C';

function functionOf(text: string): AbiFunction {
  const read = readAbi(text);
  if ('error' in read || !read.value[0]) throw new Error('no function');
  return read.value[0];
}

const errorOf = (type: string, text: string) => {
  const read = readArgument({ name: 'it', type }, text);
  return 'error' in read ? read.error : undefined;
};

describe('an ABI', () => {
  it('is read from JSON, from an artifact and from signatures: what changes something', () => {
    const abi = [
      {
        type: 'function',
        name: 'mint',
        inputs: [{ name: 'to', type: 'address' }],
        outputs: [],
        stateMutability: 'nonpayable',
      },
      { type: 'function', name: 'total', inputs: [], outputs: [], stateMutability: 'view' },
      { type: 'event', name: 'Minted', inputs: [] },
    ];
    for (const text of [JSON.stringify(abi), JSON.stringify({ abi })]) {
      expect(signatureOf(functionOf(text))).toBe('mint(address)');
    }
    expect(signatureOf(functionOf('function mint(address to, uint256 amount);'))).toBe(
      'mint(address,uint256)',
    );
    expect(signatureOf(functionOf('setMany((address who, uint64 n)[] list, bool on)'))).toBe(
      'setMany((address,uint64)[],bool)',
    );
  });

  it('has each function once, with the names of its arguments where one of the lists has them', () => {
    const all = [
      'mint(address,uint256)',
      'burn(uint256)',
      'mint(address to, uint256 amount)',
      'mint(address,uint256)',
    ];
    const functions = distinctFunctions(all.map(functionOf));
    expect(functions.map(signatureOf)).toEqual(['mint(address,uint256)', 'burn(uint256)']);
    expect(functions[0]?.inputs.map(({ name }) => name)).toEqual(['to', 'amount']);
  });

  it.each(['{', 'mint(', 'total() view returns (uint256)', '[]'])('%s is refused', (text) => {
    expect(readAbi(text)).toHaveProperty('error');
  });
});

describe('an argument', () => {
  it.each([
    ['uint8', '255', undefined],
    ['uint8', '256', 'Does not fit in uint8'],
    ['int8', '-128', undefined],
    ['int8', '-129', 'Does not fit in int8'],
    ['uint256', '-1', 'Does not fit in uint256'],
    ['uint256', '1.5', 'Invalid integer (expected digits, in the smallest unit)'],
    ['address', ADDRESS, undefined],
    [
      'address',
      ADDRESS.toLowerCase().replace('e', 'E'),
      'Invalid address (expected 0x and 40 hex digits; with mixed case, a valid checksum)',
    ],
    ['bool', 'yes', 'Invalid value (expected true or false)'],
    ['bytes', '0x123', 'Invalid bytes (expected 0x and pairs of hex digits)'],
    ['bytes4', '0x1234', '2 bytes (expected 4)'],
    ['string', ' anything ', undefined],
    ['uint256[2]', '["1"]', '1 entries (expected 2)'],
    ['uint256[]', '["1", "x"]', 'Entry 2: Invalid integer (expected digits, in the smallest unit)'],
    ['uint256[]', '[1e20]', 'Entry 1: Write 100000000000000000000 in quotes: a JSON number loses digits'],
    ['uint256[]', '1, 2', 'Invalid JSON (expected JSON, such as ["…", "…"])'],
  ])('of type %s, typed as %s', (type, text, error) => {
    expect(errorOf(type, text)).toBe(error);
  });

  it('goes into the calldata as it was typed, to the last digit', () => {
    const item = functionOf('setMany((address who, uint256 n)[] list, bool on)');
    const most = (2n ** 256n - 1n).toString();
    const data = calldataOf(item, [JSON.stringify([{ who: ADDRESS, n: most }]), 'true']);
    expect(data).toContain('f'.repeat(64));
    expect(data).toContain(ADDRESS.slice(2).toLowerCase());
    expect(calldataOf(item, [JSON.stringify([{ who: ADDRESS }]), 'true'])).toBeUndefined();
  });
});
