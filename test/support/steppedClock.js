// Loaded into a process before all else: its clock is ahead by the milliseconds in TEST_CLOCK_FILE, which may change.
const { readFileSync, watchFile } = require('node:fs');

const LOOK_MS = 100;
const file = process.env.TEST_CLOCK_FILE;
const now = Date.now;
let aheadMs = 0;

const look = () => {
  aheadMs = Number(readFileSync(file, 'utf8'));
};
look();
watchFile(file, { interval: LOOK_MS }, look).unref();

Date.now = () => now() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
  apply: (target) => new target(target.now()).toString(),
});
