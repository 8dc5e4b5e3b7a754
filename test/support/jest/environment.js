const { AsyncLocalStorage } = require('node:async_hooks');
const { TestEnvironment } = require('jest-environment-node');

/** What jest-circus calls for each event of a test. Every file adds its own, and would call those of all files before it. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

/**
 * The storages that a file has used. Each Temporal worker brings two and never gives them up, and on Node 20 each makes
 * every promise of the process dearer: after 100 files a tenth of the time went there.
 */
const storages = new Set();
for (const method of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[method];
  AsyncLocalStorage.prototype[method] = function recorded(...args) {
    storages.add(this);
    return original.apply(this, args);
  };
}

class LastingEnvironment extends TestEnvironment {
  async teardown() {
    delete this.global[EVENT_HANDLERS];
    for (const storage of storages) storage.disable();
    storages.clear();
  }
}

let shared;

/** The environment of all test files of a worker. Modules evaluated in it stay valid when a file ends. */
module.exports = function environmentOfWorker(...args) {
  shared ??= new LastingEnvironment(...args);
  return shared;
};
