/**
 * The cases that are tried: all of them with EVERY_CASE set, as the deep tests do, else those marked `first`. A case
 * kills processes and waits until that is noticed, so that all of them take many minutes.
 */
export function casesToTry<T extends { readonly first?: true }>(all: readonly T[]): readonly T[] {
  return process.env.EVERY_CASE ? all : all.filter(({ first }) => first);
}
