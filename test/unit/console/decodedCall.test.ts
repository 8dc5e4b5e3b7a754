import type { Schema } from '@orgwallet/client';
import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem';
import { checkDecoded } from '../../../console/src/domain/decodedCall.ts';
import { readCall } from '../../../src/chain/decode';
import { selectorOf } from '../../../src/chain/functions';
import { anAddress } from '../../support/builders';

const payee = getAddress(anAddress());
const ABI = parseAbi([
  'function pay((address to, uint256[] amounts)[] list, bool now, string note, bytes4 tag, int8 by)',
  'function claim()',
]);
const SIGNATURES = ['pay((address,uint256[])[],bool,string,bytes4,int8)', 'claim()'];
const PAY = encodeFunctionData({
  abi: ABI,
  functionName: 'pay',
  args: [[{ to: payee, amounts: [1n, 2n] }], true, 'a, "b"', '0x01020304', -3],
});
const CLAIM = encodeFunctionData({ abi: ABI, functionName: 'claim' });

/** A call as the service decodes it. */
const decoded = (calldata: Hex, change: object = {}) =>
  ({ calldata, ...readCall(calldata, SIGNATURES), ...change }) as Schema['ContractInteractionData'];
const refusal = expect.objectContaining({ code: 'payloadMismatch', field: 'message.data' });

describe('a decoded call', () => {
  it('is what the service decodes, or not decoded at all', () => {
    for (const calldata of [PAY, CLAIM]) {
      expect(decoded(calldata).functionName).toBeDefined();
      checkDecoded(decoded(calldata));
    }
    checkDecoded(decoded('0x12345678'));
  });

  const dirty = `${PAY.slice(0, 74)}${'0'.repeat(62)}01` as Hex;
  const MARK = 'mark(address,bool)';
  const marked = `${selectorOf(MARK)}${'ab'.repeat(12)}${payee.slice(2).toLowerCase()}${'1'.padStart(64, '0')}00ff`;
  const odd = (change: object = {}) =>
    ({ calldata: marked, ...readCall(marked, [MARK]), ...change }) as Schema['ContractInteractionData'];

  it('whose encoding is not canonical is read with what is odd', () => {
    expect(odd()).toMatchObject({
      functionName: 'mark',
      functionParameters: [{ value: payee }, { value: 'true' }],
      encodingFaults: ['2 bytes after its parameters', 'parameter 1: 12 bytes that should be zero'],
    });
    checkDecoded(odd());
    const unread = decoded(dirty);
    expect(unread).toMatchObject({ functionName: 'pay', encodingFaults: ['its parameters cannot be read'] });
    checkDecoded(unread);
  });

  it.each<[string, object]>([
    ['none', { encodingFaults: undefined }],
    ['fewer', { encodingFaults: ['2 bytes after its parameters'] }],
    [
      'other ones',
      { encodingFaults: ['3 bytes after its parameters', 'parameter 1: 12 bytes that should be zero'] },
    ],
  ])('of which the service reports %s of what is odd is refused', (_, change) => {
    expect(() => checkDecoded(odd(change))).toThrow(refusal);
  });

  it.each([
    ['another function', decoded(PAY, { functionName: 'vote' })],
    ['another function without parameters', decoded(CLAIM, { functionName: 'vote' })],
    ['a function of calldata that nobody knows', decoded('0x12345678', { functionName: 'claim' })],
    [
      'parameters without a function',
      decoded('0x12345678', { functionParameters: [{ name: 'to', type: 'address', value: payee }] }),
    ],
    ['fewer parameters', decoded(PAY, { functionParameters: [] })],
    ...[JSON.stringify([[payee, ['1', '3']]]), 'false', 'a, b', '0x01020305', '3'].map(
      (value, i): [string, Schema['ContractInteractionData']] => [
        `another argument ${i}`,
        decoded(PAY, {
          functionParameters: decoded(PAY).functionParameters?.map((one, at) =>
            at === i ? { ...one, value } : one,
          ),
        }),
      ],
    ),
  ])('that has %s is refused', (_, data) => {
    expect(() => checkDecoded(data)).toThrow(refusal);
  });
});
