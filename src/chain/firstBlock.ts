/** The first block up to `newest` from which on something is so, by halving; the one after `newest` where it is in none. */
export async function firstBlock(
  newest: bigint,
  isSo: (blockNumber: bigint) => Promise<boolean>,
): Promise<bigint> {
  let [before, from] = [-1n, newest + 1n];
  while (from - before > 1n) {
    const middle = (before + from) / 2n;
    if (await isSo(middle)) from = middle;
    else before = middle;
  }
  return from;
}
