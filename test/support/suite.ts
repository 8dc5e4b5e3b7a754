/**
 * Whether the deep tests run. A file that begins with the comment `@deep` runs in `npm test` and in `npm run
 * test:deep`; what is in test/deep runs in the deep tests alone.
 */
export const DEEP = process.env.TEST_SUITE === 'deep';

/** The cases to try: all in the deep tests, in `npm test` those marked `first`. */
export function casesToTry<T extends { readonly first?: true }>(all: readonly T[]): readonly T[] {
  return DEEP ? all : all.filter(({ first }) => first);
}
