/** What one sequence after another may take, in milliseconds. */
export const SEQUENCES_LIMIT_MS = 3_600_000;

/** Long runs of what `npm test` runs briefly; DEEP_SEQUENCES says how many sequences of each. */
export const RUNS = Number(process.env.DEEP_SEQUENCES ?? 500);

/** Longer ones than those of `npm test`. */
export const LONGEST = 6;
