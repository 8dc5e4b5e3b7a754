import type { Cursors } from '../../../src/api/cursors';
import { page } from '../../../src/api/pages';

const cursors = {} as Cursors;
const SCOPE = { organizationId: 'org_1', list: 'transactions' };

/** Keeps the processor busy, as showing a large record does. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('shows a page of large records without keeping others waiting for all of them', async () => {
  let turns = 0;
  const look = setInterval(() => {
    turns += 1;
  }, 1);
  const rows = Array.from({ length: 40 }, (_, n) => ({ position: BigInt(n) }));
  const { data } = await page(cursors, SCOPE, { limit: 40, filters: {} }, rows, ({ position }) => {
    busy(6);
    return position;
  });
  clearInterval(look);
  expect(data).toEqual(rows.map(({ position }) => position));
  // All of them keep it busy for 240 ms: others had their turn in between, and more than once.
  expect(turns).toBeGreaterThanOrEqual(4);
});
