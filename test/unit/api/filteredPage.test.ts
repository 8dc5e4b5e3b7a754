import { filteredPage } from '../../../src/api/filteredPage';

const LIMIT = 3;

/** Numbers from 40 down, in pages of LIMIT; how often they were read. */
function candidates(first = 40) {
  const read = jest.fn(async (before: bigint | undefined) => {
    const from = before === undefined ? first : Number(before) - 1;
    const numbers = Array.from({ length: Math.min(LIMIT, from) }, (_, i) => from - i);
    return {
      snapshots: numbers.map((n) => ({ record: { position: BigInt(n) } })),
      hasMore: from > LIMIT,
    };
  });
  return { read };
}

const positions = (page: Awaited<ReturnType<typeof filteredPage>>) =>
  page.snapshots.map(({ record }) => Number(record.position));

it('reads on until a page is full, and says where it has stopped', async () => {
  const { read } = candidates();
  const page = await filteredPage(LIMIT, read, ({ record }) => record.position % 4n === 0n);
  expect([positions(page), page.hasMore, page.reached]).toEqual([[40, 36, 32], true, 32n]);
  expect(read).toHaveBeenCalledTimes(3);
});

it('ends with what there is', async () => {
  const { read } = candidates(5);
  const page = await filteredPage(LIMIT, read, ({ record }) => record.position === 2n);
  expect([positions(page), page.hasMore, page.reached]).toEqual([[2], false, 1n]);
});

it('knows that there is nothing after the last candidate', async () => {
  const { read } = candidates(3);
  expect((await filteredPage(LIMIT, read, () => true)).hasMore).toBe(false);
});

it('ends an empty page after ten reads, and goes on from there', async () => {
  const { read } = candidates();
  const page = await filteredPage(LIMIT, read, () => false);
  expect([positions(page), page.hasMore, page.reached]).toEqual([[], true, 11n]);
  expect(read).toHaveBeenCalledTimes(10);
});

it('returns what was found where a page of candidates is cut short by its size', async () => {
  const read = jest.fn(async () => ({ snapshots: [{ record: { position: 9n } }], hasMore: true }));
  const page = await filteredPage(LIMIT, read, () => true);
  expect([positions(page), page.hasMore, page.reached]).toEqual([[9], true, 9n]);
  expect(read).toHaveBeenCalledTimes(1);
});
