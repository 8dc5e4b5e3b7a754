import type { TransactionReceipt } from 'viem';
import { boundedFee, feeOf, totalFee } from '../../../src/chain/receiptFee';

const receipt = (more: object) =>
  ({ gasUsed: 21_000n, effectiveGasPrice: 7n, ...more }) as unknown as TransactionReceipt;

it.each<[string, object, bigint | null]>([
  ['Ethereum', {}, 147_000n],
  ['the OP Stack, with its data fee', { l1Fee: '0x74c3eb934', l1GasUsed: '0x24c4' }, 147_000n + 0x74c3eb934n],
  ['the OP Stack, where there is none', { l1Fee: null }, 147_000n],
  [
    'the OP Stack, whose operator charges the same for each',
    { l1Fee: '0x10', operatorFeeScalar: '0x0', operatorFeeConstant: '0x5' },
    147_021n,
  ],
  [
    'the OP Stack, whose operator charges by the gas: by which formula is not said',
    { l1Fee: '0x10', operatorFeeScalar: '0x1', operatorFeeConstant: '0x5' },
    null,
  ],
  [
    'an operator fee that is none',
    { l1Fee: '0x10', operatorFeeScalar: '0x0', operatorFeeConstant: 'much' },
    null,
  ],
  ['Scroll', { l1Fee: '0x10' }, 147_016n],
  ['Arbitrum, whose gas has the data in it', { gasUsedForL1: '0x1000', l1BlockNumber: '0x1' }, 147_000n],
  ['ZKsync', { l1BatchNumber: '0x1', l1BatchTxIndex: '0x2' }, 147_000n],
  ['a node without the price', { effectiveGasPrice: null }, null],
  ['a negative price', { effectiveGasPrice: -1n }, null],
])('the fee in a receipt of %s', (_, more, fee) => {
  expect(totalFee(feeOf(receipt(more)))).toBe(fee);
});

it('more than was signed is not known', () => {
  const fee = feeOf(receipt({}));
  expect(boundedFee(fee, { gas: 21_000n, maxFeePerGas: 7n })).toEqual(fee);
  expect(boundedFee(fee, { gas: 20_999n, maxFeePerGas: 6n })).toEqual({
    ...fee,
    gasUsed: null,
    gasPrice: null,
  });
});
