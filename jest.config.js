const shared = {
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': ['@swc/jest', { ...require('./swc.config.js'), sourceMaps: 'inline' }] },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
};

module.exports = {
  // One more than the cores of a small machine: tests that wait leave room for those that compute.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/sequencer.js',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...shared,
      displayName: 'stack',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/unit/', '<rootDir>/test/deep/', '/node_modules/'],
      globalSetup: '<rootDir>/test/support/globalSetup.ts',
      globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
      setupFilesAfterEnv: ['<rootDir>/test/support/limits.ts'],
    },
    {
      ...shared,
      displayName: 'deep',
      testMatch: ['<rootDir>/test/deep/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/globalSetup.ts',
      globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
      setupFilesAfterEnv: ['<rootDir>/test/support/limits.ts'],
    },
  ],
};
