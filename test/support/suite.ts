/**
 * Whether the deep tests run. A file that begins with the comment `@deep` runs in `npm test` and, with all its cases, in
 * `npm run test:deep`; what is in test/deep runs in the deep tests alone. The same of `@load` and test/load, one file at a time.
 */
export const DEEP = process.env.TEST_SUITE === 'deep';

/** Calls jest's function of the file that runs now; in `npm test`, nothing. */
function inDeepTests(name: 'it' | 'describe') {
  const called = (...args: Parameters<jest.It>) => {
    if (DEEP) (globalThis[name] as jest.It)(...args);
  };
  const each = (...cases: [never]) => (DEEP ? globalThis[name].each(...cases) : () => undefined);
  return Object.assign(called, { each });
}

/** A case that the deep tests alone try: another one in `npm test` proves the same rule. */
export const itDeep = inDeepTests('it') as unknown as Pick<jest.It, 'each'> & jest.It;

/** Cases that the deep tests alone try. */
export const describeDeep = inDeepTests('describe') as unknown as jest.Describe;
