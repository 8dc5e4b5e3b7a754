import { restartRandom } from '../random';

// Tests against real parts wait for real processes; each waits for a condition, never for this limit.
jest.setTimeout(180_000);
restartRandom(expect.getState().testPath ?? '');
