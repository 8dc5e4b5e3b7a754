const { TestEnvironment } = require('jest-environment-node');

class LastingEnvironment extends TestEnvironment {
  async teardown() {}
}

let shared;

/** The environment of all test files of a worker. Modules evaluated in it stay valid when a file ends. */
module.exports = function environmentOfWorker(...args) {
  shared ??= new LastingEnvironment(...args);
  return shared;
};
