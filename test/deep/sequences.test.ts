import { completed, GOVERNANCE, playRaces, playSequences, RESOURCES } from '../db/operationProperties';

jest.setTimeout(3_600_000);

/** Long runs of what `npm test` runs briefly; DEEP_SEQUENCES says how many sequences of each. */
const RUNS = Number(process.env.DEEP_SEQUENCES ?? 2_000);

describe('thousands of sequences', () => {
  it('about members and admins leave the database as the rules say', async () => {
    await playSequences(GOVERNANCE, { runs: RUNS, mustHappen: completed(GOVERNANCE) });
  });

  it('about groups, policies and accounts leave the database as the rules say', async () => {
    await playSequences(RESOURCES, { runs: RUNS, mustHappen: completed(RESOURCES) });
  });

  it('that end in several things at once come out as if those had happened in some order', async () => {
    await playRaces({ runs: RUNS / 2, mustHappen: ['at once execute: ok', 'at once execute: conflict'] });
  });
});
