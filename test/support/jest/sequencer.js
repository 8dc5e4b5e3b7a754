const { default: Sequencer } = require('@jest/test-sequencer');

/** Short files that take long: they play many sequences, start processes, or look at the whole code. */
const LONG = /test\/(quality|dev|cli)\/|(Sequences|errorCodes|stale|storm)\.test/;

/** Files that wait most of their time. */
const WAITING = /(reconciler\w*|claims|[eE]xpiry|slowClients)\.test/;

/** So many others begin between two that wait: several that wait at once leave the processors idle. */
const BETWEEN = 3;

/** Runs what takes long first, so that a run does not end with one of them alone, and spreads what waits. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONG.test(path);
    const isWaiting = ({ path }) => WAITING.test(path);
    const sorted = super.sort(tests);
    const waiting = sorted.filter(isWaiting);
    const others = sorted.filter((test) => !isWaiting(test));
    const ordered = [...others.filter(isLong), ...others.filter((test) => !isLong(test))];
    return waiting.flatMap((test) => [test, ...ordered.splice(0, BETWEEN)]).concat(ordered);
  }
};
