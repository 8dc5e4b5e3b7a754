const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

// Invented test data comes from this seed; the same seed makes the same data again.
process.env.TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));
process.stderr.write(`TEST_SEED=${process.env.TEST_SEED}\n`);

const shared = {
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  runtime: '<rootDir>/test/support/jest/runtime.js',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/eachFile.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...require('./swc.config.js'), sourceMaps: 'inline' }] },
  modulePathIgnorePatterns: [
    '<rootDir>/dist',
    '<rootDir>/client/dist',
    '<rootDir>/console/dist',
    '<rootDir>/.data',
  ],
  // ES modules cannot be required by jest: the sources are translated like all others.
  moduleNameMapper: {
    '^@orgwallet/client$': '<rootDir>/client/src/index.ts',
    '^@orgwallet/client/rescue$': '<rootDir>/client/src/rescue.ts',
  },
};

/** Files that begin with a comment such as `@deep`: `npm test` tries their first cases, the deep tests all. */
const tagged = (tag) =>
  readdirSync(join(__dirname, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(__dirname, 'test', file), 'utf8').startsWith(`/** @${tag} */`));

const withStack = {
  globalSetup: '<rootDir>/test/support/jest/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/jest/globalTeardown.ts',
};

/** A part of the deep tests: the files of a folder, and those with its tag. */
const deepTests = (name) => ({
  ...shared,
  ...withStack,
  displayName: name,
  testMatch: [`${name}/**/*.test.ts`, ...tagged(name)].map((file) => `<rootDir>/test/${file}`),
  setupFiles: ['<rootDir>/test/support/jest/deep.js'],
});

module.exports = {
  // One more than the cores of a small machine: tests that wait leave room for those that compute.
  maxWorkers: 3,
  reporters: ['<rootDir>/test/support/jest/reporter.js', 'summary'],
  testSequencer: '<rootDir>/test/support/jest/sequencer.js',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...shared,
      ...withStack,
      displayName: 'stack',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['unit', 'deep', 'load'].map((name) => `<rootDir>/test/${name}/`),
    },
    deepTests('deep'),
    // One file at a time: what they measure is what the machine can do.
    deepTests('load'),
  ],
};
