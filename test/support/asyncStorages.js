const { AsyncLocalStorage } = require('node:async_hooks');

/**
 * The storages that a process has used. Each Temporal worker brings two and never gives them up, and on Node 20 each makes every
 * promise of the process dearer: after 100 files of tests a tenth of the time went there.
 */
const storages = new Set();
for (const method of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[method];
  AsyncLocalStorage.prototype[method] = function recorded(...args) {
    storages.add(this);
    return original.apply(this, args);
  };
}

/** Gives them up. Call it where nothing runs that uses one. */
exports.giveUpStorages = function giveUpStorages() {
  for (const storage of storages) storage.disable();
  storages.clear();
};
