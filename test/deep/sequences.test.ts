import { playBudgets } from '../db/budgetProperties';
import {
  GOVERNANCE,
  GOVERNANCE_EVENTS,
  playRaces,
  playSequences,
  RESOURCE_EVENTS,
  RESOURCES,
} from '../db/operationProperties';

jest.setTimeout(3_600_000);

/** Long runs of what `npm test` runs briefly; DEEP_SEQUENCES says how many sequences of each. */
const RUNS = Number(process.env.DEEP_SEQUENCES ?? 500);

/** Longer ones than those of `npm test`. */
const LONGEST = 6;

/** What some hundred sequences need not come across. */
const RARE = [
  'vote forged: invalidSignature',
  'vote otherType: invalidSignature',
  'vote otherContent: invalidSignature',
  'vote approve: proposalExpired',
  'execute approve members/remove: blocked',
  'execute approve groups/update: blocked',
  'execute approve admins/update: blocked',
  'execute reject admins/update: rejected',
  'close: ok',
];

describe('thousands of sequences', () => {
  it('about members and admins match the model', async () => {
    await playSequences(GOVERNANCE, {
      runs: RUNS,
      longest: LONGEST,
      mustHappen: [...GOVERNANCE_EVENTS.frequent, ...GOVERNANCE_EVENTS.rare, ...RARE],
    });
  });

  it('about groups, policies and accounts match the model', async () => {
    await playSequences(RESOURCES, {
      runs: RUNS,
      longest: LONGEST,
      mustHappen: [
        ...RESOURCE_EVENTS.frequent,
        ...RESOURCE_EVENTS.rare,
        'execute approve policies/create: blocked',
        'execute approve groups/update: blocked',
        'close: ok',
        'finish accounts/update: completed',
        'finish accounts/create: completed late',
      ],
    });
  });

  it('of executions exceed no budget', async () => {
    await playBudgets({ runs: RUNS / 2 });
  });

  it('with a concurrent end are serializable', async () => {
    await playRaces({ runs: RUNS / 2, mustHappen: ['at once execute: ok', 'at once execute: conflict'] });
  });
});
