const { default: Runtime } = require('jest-runtime');

class LastingRuntime extends Runtime {
  /** Ends a test file: modules stay, but for those that hold something of the file. */
  teardown() {
    this.restoreAllMocks();
    // Jest's own modules hold the tests and hooks of the file.
    this.registries.internalModuleRegistry.clear();
    this.jestGlobals.clearJestObjectCache();
    for (const file of this._config.setupFilesAfterEnv) this.registries.moduleRegistry.delete(file);
    // The next file is loaded as test code, not between tests.
    this.enterTestCode();
  }
}

let shared;

/**
 * The runtime of all test files of a worker: a module is evaluated once per worker. One runtime per file would spend a
 * second of processor time per file on loading viem, knex, zod and the Temporal SDK. Files stay independent because
 * modules hold no state that a test changes; what starts anew with each file is in `eachFile.ts`.
 */
module.exports = function runtimeOfWorker(...args) {
  shared ??= new LastingRuntime(...args);
  return shared;
};
