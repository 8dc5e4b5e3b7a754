const { default: Sequencer } = require('@jest/test-sequencer');

/** Short files that take long: they wait, play many sequences, or look at the whole code. */
const LONG =
  /test\/(chaos|quality|demo|dev|cli)\/|(Sequences|reconciler\w*|errorCodes|network\w+|stale|[eE]xpiry|slowClients)\.test/;

/** Runs what takes long first, so that a run does not end with one of them alone. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isLong = ({ path }) => LONG.test(path);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
