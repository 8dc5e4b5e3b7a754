/**
 * The time of the machine's clock as it was last adopted, and what has elapsed since: whoever sets the clock in between
 * changes nothing. Milliseconds.
 */
export interface SteadyTime {
  now(): number;
  /** The machine's clock, which may have been set. */
  look(): number;
  /** Goes on from this time. */
  adopt(time: number): void;
}

/** Creates it with the machine's clock as it is now. */
export function createSteadyTime(
  machineTime: () => number = Date.now,
  elapsed: () => number = () => performance.now(),
): SteadyTime {
  let offset = machineTime() - elapsed();
  return {
    now: () => Math.round(offset + elapsed()),
    look: machineTime,
    adopt(time) {
      offset = time - elapsed();
    },
  };
}
