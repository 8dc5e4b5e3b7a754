const { TestEnvironment } = require('jest-environment-node');
const { giveUpStorages } = require('../asyncStorages');

/** What jest-circus calls for each event of a test. Every file adds its own, and would call those of all files before it. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

class LastingEnvironment extends TestEnvironment {
  async teardown() {
    delete this.global[EVENT_HANDLERS];
    giveUpStorages();
  }
}

let shared;

/** The environment of all test files of a worker. Modules evaluated in it stay valid when a file ends. */
module.exports = function environmentOfWorker(...args) {
  shared ??= new LastingEnvironment(...args);
  return shared;
};
