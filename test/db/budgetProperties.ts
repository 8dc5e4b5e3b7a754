import fc from 'fast-check';
import { setBudgetStage, storiesOf, tell } from './budgetStories';
import { playUntil } from './operationProperties';

/** What stories about budgets must come across. */
const MUST_HAPPEN = [
  'allowed',
  'blocked: budget',
  'blocked alone',
  'allowed at another try',
  'commit',
  'release',
  'revert',
];

/**
 * Plays random stories about budgets on a real database: executions that begin, succeed, fail, are tried again and lose
 * their block, policies that are edited, and time that goes on; alone and several at once. Compares each with a plain
 * sum over what was told. No transaction may have been in a deadlock.
 */
export async function playBudgets(options: { readonly runs: number }): Promise<void> {
  const stage = await setBudgetStage();
  const play = async (runs: number, seed: number) => {
    const third = Math.floor(runs / 3);
    const kinds = [
      [storiesOf(1), third],
      [storiesOf(6, []), third],
      [storiesOf(6), runs - 2 * third],
    ] as const;
    for (const [stories, numRuns] of kinds) {
      const property = fc.asyncProperty(stories, (story) => tell(stage, story));
      await fc.assert(property, { numRuns, seed });
    }
  };
  try {
    await playUntil(stage, { runs: options.runs, mustHappen: [...MUST_HAPPEN, 'edit', 'reopen'] }, play);
    expect(await stage.deadlocks()).toBe(0n);
  } finally {
    await stage.end();
  }
}
