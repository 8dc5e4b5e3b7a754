import { playBudgets } from '../db/budgetProperties';
import { playRaces } from '../db/operationProperties';
import { RUNS, SEQUENCES_LIMIT_MS } from './sequences';

jest.setTimeout(SEQUENCES_LIMIT_MS);

test('hundreds of sequences of executions exceed no budget', async () => {
  await playBudgets({ runs: RUNS / 2 });
});

test('hundreds of sequences with a concurrent end are serializable', async () => {
  await playRaces({ runs: RUNS / 2, mustHappen: ['at once execute: ok', 'at once execute: conflict'] });
});
