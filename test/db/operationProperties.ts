import fc from 'fast-check';
// The seed of a run is printed, and TEST_SEED makes the run again.
import { seed } from '../support/random';
import { Pair } from './operationPair';
import { type RaceSteps, raceOf, type Step, sequenceOf, type Weights } from './operationSteps';
import { type Stage, setStage } from './operationWorld';

/** Who decides, and about whom: members, their wallets, their groups and the admins. */
export const GOVERNANCE: Weights = {
  'members/create': 2,
  'members/update': 4,
  'members/remove': 3,
  'groups/update': 2,
  'groups/create': 1,
  'admins/update': 4,
};

/** What is decided about: groups, policies and accounts, and the members that they name. */
export const RESOURCES: Weights = {
  'groups/create': 2,
  'groups/update': 3,
  'groups/delete': 2,
  'policies/create': 4,
  'policies/update': 3,
  'policies/remove': 2,
  'accounts/create': 3,
  'accounts/update': 3,
  'members/remove': 2,
  'admins/update': 1,
};

/** How long a sequence is. Many short ones find more than few long ones, and shrink at once. */
const SHORTEST = 1;
const LONGEST = 4;

/** How many more are played at once while something that is to happen has not come about by chance. */
const MORE = 10;

/** How many a short run plays at the most until all has happened. */
const MOST = 400;

/**
 * Plays `runs` sequences, and then as many more (up to MOST or four times as many in all) as it takes for all to happen.
 */
export async function playUntil(
  stage: Pick<Stage, 'counts'>,
  options: { readonly runs: number; readonly mustHappen: readonly string[] },
  playSome: (runs: number, seed: number) => Promise<void>,
): Promise<void> {
  const missing = () => options.mustHappen.filter((what) => stage.counts.of(what) === 0);
  const most = Math.max(MOST, options.runs * 4);
  let played = options.runs;
  await playSome(played, seed());
  for (; missing().length > 0 && played < most; played += MORE) await playSome(MORE, seed() + played);
  stage.counts.print();
  expect(missing()).toEqual([]);
  expect(stage.counts.sequences).toBe(played);
}

/**
 * Plays random sequences of steps, each on an organization of its own, and compares the database with the model after
 * every step. Then says how often what happened, and fails when something that the sequences are there for did not.
 */
export async function playSequences(
  weights: Weights,
  options: { readonly runs: number; readonly mustHappen: readonly string[]; readonly longest?: number },
): Promise<void> {
  const stage = await setStage();
  try {
    const { longest = LONGEST } = options;
    const sequences = fc.asyncProperty(sequenceOf(weights, SHORTEST, longest), (steps) => play(stage, steps));
    await playUntil(stage, options, (numRuns, from) => fc.assert(sequences, { numRuns, seed: from }));
  } finally {
    await stage.end();
  }
}

async function play(stage: Stage, steps: readonly Step[]): Promise<void> {
  const pair = await Pair.make(stage);
  for (const step of steps) await pair.take(step);
  await pair.world.expectSound();
  stage.counts.sequences += 1;
}

/**
 * Plays sequences that end in several steps taken at the same time on one organization. What comes of them must be
 * what some order of them comes to, and no transaction may have been in a deadlock.
 */
export async function playRaces(options: {
  readonly runs: number;
  readonly mustHappen: readonly string[];
}): Promise<void> {
  const stage = await setStage();
  const race = async ({ first, atOnce }: RaceSteps) => {
    const pair = await Pair.make(stage);
    for (const step of first) await pair.take(step);
    await pair.race(atOnce);
    await pair.world.expectSound();
    stage.counts.sequences += 1;
  };
  try {
    const races = fc.asyncProperty(raceOf({ ...GOVERNANCE, ...RESOURCES }), race);
    await playUntil(stage, options, (numRuns, from) => fc.assert(races, { numRuns, seed: from }));
    // What a connection has counted is there for others at the latest when it has ended.
    await stage.service.destroy();
    const { rows } = await stage.owner.raw(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0n }]);
  } finally {
    await stage.end();
  }
}

/** What is proposed in such sequences, completed at least once each. */
function completed(weights: Weights): string[] {
  return Object.keys(weights)
    .filter((kind) => !kind.startsWith('accounts/'))
    .map((kind) => `execute approve ${kind}: completed`);
}

/** What sequences about members and admins are there for: what some dozens come across, and what hundreds do. */
export const GOVERNANCE_EVENTS = {
  frequent: [
    ...completed(GOVERNANCE),
    'executed: blocked',
    'execute approve: thresholdNotMet',
    'execute approve: conflict',
    'claim taken',
    'propose admins/update: validationError',
    'vote approve: ok',
    'vote reject: ok',
    'vote approve: forbidden',
    'vote approve: conflict',
    'vote: invalidSignature',
    'expire: ok',
    'note',
  ],
  rare: [
    'executed: rejected',
    'execute approve: proposalExpired',
    'propose members/remove: conflict',
    'vote approve: repeated',
    'begun with the vote',
    'vote again: no effect',
  ],
};

/** The same of sequences about groups, policies and accounts. */
export const RESOURCE_EVENTS = {
  frequent: [
    ...completed(RESOURCES),
    'finish accounts/create: failed',
    'executed: blocked',
    'execute approve: thresholdNotMet',
    'execute approve: proposalExpired',
    'expire: ok',
    'note',
  ],
  rare: [
    'finish accounts/create: completed',
    'executed: rejected',
    'claim taken',
    'propose policies/create: validationError',
  ],
};
