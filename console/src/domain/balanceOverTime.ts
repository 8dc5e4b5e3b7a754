import type { Schema } from '@orgwallet/client';

/** A balance from a time on, in ms since 1970. */
interface BalancePoint {
  readonly at: number;
  /** In the smallest unit. */
  readonly balance: bigint;
}

/** What was held of an asset: before the first of the points, and after each movement, oldest first. */
export interface BalanceOverTime {
  readonly before: bigint;
  readonly points: readonly BalancePoint[];
}

/** The least and the most of balances. */
export function extremesOf(balances: readonly bigint[]): { readonly least: bigint; readonly most: bigint } {
  const sorted = balances.toSorted((one, two) => (one < two ? -1 : 1));
  return { least: sorted[0] ?? 0n, most: sorted.at(-1) ?? 0n };
}

type Proved = Pick<Schema['AssetStatement'], 'opening' | 'closing' | 'difference'>;
type Moved = Pick<Schema['Movement'], 'blockAt' | 'direction' | 'rawAmount'>;

/**
 * What was held after each movement, from the balance at the end of a statement backwards. Undefined where the statement is not proved,
 * where something moved without a movement, and where the movements do not lead to the opening: it would be false somewhere.
 * `moved`: newest first; `isWhole`: there are no others.
 */
export function balanceOverTime(
  { opening, closing, difference }: Proved,
  moved: readonly Moved[],
  isWhole: boolean,
): BalanceOverTime | undefined {
  if (opening === null || closing === null || difference !== '0') return undefined;
  const points: BalancePoint[] = [];
  let balance = BigInt(closing);
  for (const { blockAt, direction, rawAmount } of moved) {
    points.unshift({ at: Date.parse(blockAt), balance });
    balance += direction === 'in' ? -BigInt(rawAmount) : BigInt(rawAmount);
  }
  const isTrue = isWhole ? balance === BigInt(opening) : true;
  // A block may hold several movements, in any order: only between blocks is a balance known.
  const known = points.filter(({ at }, index) => points[index + 1]?.at !== at);
  return isTrue && balance >= 0n && known.every((point) => point.balance >= 0n)
    ? { before: balance, points: known }
    : undefined;
}
