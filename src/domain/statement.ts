/** What moved of one asset of an account in a period, in the smallest unit. */
export interface MovementSums {
  readonly in: bigint;
  /** Without fees. */
  readonly out: bigint;
  readonly fees: bigint;
}

/** What sums make of a balance. */
export function balanceAfter(opening: bigint, { in: received, out, fees }: MovementSums): bigint {
  return opening + received - out - fees;
}

/** A change of a balance that no movement explains, in the smallest unit, in blocks from the first to the last. */
export interface Unexplained {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Negative where there is less than movements say. */
  readonly amount: bigint;
}

/** How much more an account has at a block than its movements since the opening say; null where that cannot be read. */
type DeviationAt = (block: bigint) => Promise<bigint | null>;

/** More places than these are reported as one range: each takes some twenty reads. */
const MOST_PLACES = 8;

/**
 * The blocks in which a balance has changed without a movement, by bisection of those after `from` up to `to`. Changes
 * that cancel each other within a part are not found: the sum of what is found is the deviation at `to`.
 */
export async function findUnexplained(
  { from, to, deviation }: { readonly from: bigint; readonly to: bigint; readonly deviation: bigint },
  deviationAt: DeviationAt,
): Promise<Unexplained[]> {
  const found: Unexplained[] = [];
  const open = [{ from, to, before: 0n, after: deviation }];
  for (let part = open.pop(); part; part = open.pop()) {
    const { from: start, to: end, before, after } = part;
    if (before === after) continue;
    const isLast = end - start <= 1n || found.length >= MOST_PLACES;
    const middle = (start + end) / 2n;
    const between = isLast ? null : await deviationAt(middle);
    if (between === null) found.push({ fromBlock: start + 1n, toBlock: end, amount: after - before });
    else {
      // The earlier one is taken next.
      open.push({ from: middle, to: end, before: between, after });
      open.push({ from: start, to: middle, before, after: between });
    }
  }
  return found;
}
