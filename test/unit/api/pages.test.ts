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
  let longestMs = 0;
  let lastAt = performance.now();
  const look = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 1);
  const rows = Array.from({ length: 40 }, (_, n) => ({ position: BigInt(n) }));
  const { data } = await page(cursors, SCOPE, { limit: 40, filters: {} }, rows, ({ position }) => {
    busy(6);
    return position;
  });
  clearInterval(look);
  expect(data).toEqual(rows.map(({ position }) => position));
  // All of them keep it busy for 240 ms; a machine with other work may take some of that besides.
  expect(longestMs).toBeLessThan(120);
});
