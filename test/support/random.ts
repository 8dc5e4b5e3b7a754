import { createHash } from 'node:crypto';
import fc from 'fast-check';

/** The seed of the run, which jest.config.js chooses and prints. */
export const RUN_SEED = process.env.TEST_SEED;

/** The next whole number in 0..below-1. */
export type Draw = (below: number) => number;

/** A source of numbers of its own. Source: mulberry32. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

let fileSeed = 0;
let draw = drawFrom(fileSeed);

/**
 * Starts the invented values of a test file. They come from the run's seed and from the
 * file's path: files share a database, and a file run alone invents the same values again.
 */
export function restartRandom(testPath: string): void {
  const hash = createHash('sha256').update(`${RUN_SEED} ${testPath.replace(/^.*\/test\//, '')}`);
  // Seeds that tests derive by addition stay in the range of a signed 32-bit integer.
  fileSeed = hash.digest().readUInt32BE() >>> 2;
  draw = drawFrom(fileSeed);
  fc.configureGlobal({ seed: fileSeed });
}

/** The seed of the test file that runs. */
export function seed(): number {
  return fileSeed;
}

/** The next whole number in 0..below-1. */
export function random(below: number): number {
  return draw(below);
}
