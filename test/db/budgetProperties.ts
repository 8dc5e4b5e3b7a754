import fc from 'fast-check';
import { budgetSequences, playSequence, startBudgetFixture } from './budgetSequences';
import { playUntil } from './operationProperties';

/** What the sequences must include. */
const MUST_HAPPEN = [
  'allowed',
  'blocked: budget',
  'blocked without concurrency',
  'allowed when retried',
  'commit',
  'release',
  'revert',
];

/**
 * Plays random sequences of executions on a real database: executions that begin, succeed, fail, are retried and lose
 * their block, policies that are edited, and time that passes; one at a time and concurrently. Compares each with a plain
 * sum over the model's transactions. No database transaction may have met a deadlock.
 */
export async function playBudgets(options: { readonly runs: number }): Promise<void> {
  const fixture = await startBudgetFixture();
  const play = async (runs: number, seed: number) => {
    const third = Math.floor(runs / 3);
    const kinds = [
      [budgetSequences(1), third],
      [budgetSequences(6, []), third],
      [budgetSequences(6), runs - 2 * third],
    ] as const;
    for (const [sequences, numRuns] of kinds) {
      const property = fc.asyncProperty(sequences, (sequence) => playSequence(fixture, sequence));
      await fc.assert(property, { numRuns, seed });
    }
  };
  try {
    await playUntil(fixture, { runs: options.runs, mustHappen: [...MUST_HAPPEN, 'edit', 'reopen'] }, play);
    expect(await fixture.deadlocks()).toBe(0n);
  } finally {
    await fixture.end();
  }
}
