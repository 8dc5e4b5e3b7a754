import fc from 'fast-check';
import { bytesToHex, type Hex } from 'viem';
import { executionGas, withMargin } from '../../../src/chain/gas';

describe('executionGas', () => {
  it('adds 24 gas for a byte, 12 for a zero byte, and what the copies in memory need', () => {
    const base = executionGas({ safeTxGas: 100_000n, data: '0x' });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const zeros = bytes.filter((byte) => byte === 0).length;
        const words = BigInt(Math.ceil((bytes.length * 4) / 32));
        const added = BigInt(bytes.length * 24 - zeros * 12) + 6n * words + (words * words) / 512n;
        const data: Hex = bytesToHex(bytes);
        expect(executionGas({ safeTxGas: 100_000n, data })).toBe(base + added);
      }),
      { numRuns: 200 },
    );
  });
});

describe('withMargin', () => {
  it('adds a fifth at least, for what a block in between changes, and less than a half', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 21_000n, max: 30_000_000n }), (gas) => {
        expect(withMargin(gas) * 100n).toBeGreaterThanOrEqual(gas * 120n);
        expect(withMargin(gas) * 100n).toBeLessThan(gas * 150n);
      }),
    );
  });
});
