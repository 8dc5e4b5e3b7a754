const { DefaultReporter, VerboseReporter } = require('@jest/reporters');

/** Jest's own reporter counts all test cases anew ten times a second: seconds of processor time in a run of thousands. */
class PerFileReporter extends DefaultReporter {
  onTestCaseResult() {}
}

/** Reports each file when it is done; each test where one file runs alone. */
module.exports = function reporterOf(globalConfig) {
  return new (globalConfig.verbose ? VerboseReporter : PerFileReporter)(globalConfig);
};
