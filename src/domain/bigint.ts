/** The smaller of two amounts of one unit: Math.min takes no bigint. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The larger of two amounts of one unit. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
