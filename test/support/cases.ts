/** Whether every case is tried, as the deep tests do: with EVERY_CASE set. */
export const TRIES_ALL = process.env.EVERY_CASE !== undefined;

/**
 * The cases that are tried: all of them in the deep tests, else those marked `first`. For cases
 * that take long: what kills processes waits until that is noticed, and all of it takes many minutes.
 */
export function casesToTry<T extends { readonly first?: true }>(all: readonly T[]): readonly T[] {
  return TRIES_ALL ? all : all.filter(({ first }) => first);
}
