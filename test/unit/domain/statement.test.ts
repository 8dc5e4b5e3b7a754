import fc from 'fast-check';
import { balanceAfter, findUnexplained } from '../../../src/domain/statement';

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

describe('a statement', () => {
  it('adds up what came in, went out and was paid for execution', () => {
    expect(balanceAfter(100n, { in: 10n, out: 3n, fees: 2n })).toBe(105n);
  });

  it('finds each block in which a balance changed by itself', async () => {
    const changes = fc.uniqueArray(
      fc.record({ at: fc.bigInt({ min: 1n, max: 500n }), by: fc.oneof(amount, fc.constant(-5n)) }),
      {
        selector: ({ at }) => at,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(changes, async (made) => {
        const deviationAt = async (block: bigint) =>
          made.reduce((sum, { at, by }) => (at <= block ? sum + by : sum), 0n);
        const deviation = await deviationAt(500n);
        const found = await findUnexplained({ from: 0n, to: 500n, deviation }, deviationAt);
        expect(found.reduce((sum, one) => sum + one.amount, 0n)).toBe(deviation);
        for (const { fromBlock, toBlock, amount: by } of found) {
          expect(fromBlock).toBe(toBlock);
          expect(made).toContainEqual({ at: fromBlock, by });
        }
        // Without changes that cancel each other, all are found.
        if (made.every(({ by }) => by > 0n)) expect(found).toHaveLength(made.length);
      }),
    );
  });

  it('reports one range for many places, and where the past cannot be read', async () => {
    let reads = 0;
    const everywhere = async (block: bigint) => {
      reads += 1;
      return block;
    };
    const found = await findUnexplained({ from: 0n, to: 1_000_000n, deviation: 1_000_000n }, everywhere);
    expect(found.reduce((sum, one) => sum + one.amount, 0n)).toBe(1_000_000n);
    expect(reads).toBeLessThan(500);
    const unread = await findUnexplained({ from: 3n, to: 90n, deviation: 7n }, async () => null);
    expect(unread).toEqual([{ fromBlock: 4n, toBlock: 90n, amount: 7n }]);
  });
});
