/**
 * Whether the deep tests run. A file that begins with the comment `@deep` runs in `npm test` and, with all its cases, in
 * `npm run test:deep`; what is in test/deep runs in the deep tests alone.
 */
export const DEEP = process.env.TEST_SUITE === 'deep';
