// Loaded into a process before all else: collects its garbage often, so that what is measured of its memory is what it keeps.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const EVERY_MS = 10_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(collect, EVERY_MS).unref();
