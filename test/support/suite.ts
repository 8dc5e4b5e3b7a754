/**
 * Whether the deep tests run. A file that begins with the comment `@deep` runs in `npm test` and, with all its cases, in
 * `npm run test:deep`; what is in test/deep runs in the deep tests alone.
 */
export const DEEP = process.env.TEST_SUITE === 'deep';

/** A case that the deep tests alone try: another one in `npm test` proves the same rule. */
export function itDeep(name: string, test: () => Promise<void>): void {
  if (DEEP) it(name, test);
}
