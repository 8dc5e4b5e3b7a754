import { playSequences, RESOURCE_EVENTS, RESOURCES } from '../db/operationProperties';
import { LONGEST, RUNS, SEQUENCES_LIMIT_MS } from './sequences';

jest.setTimeout(SEQUENCES_LIMIT_MS);

test('hundreds of long sequences about groups, policies and accounts match the model', async () => {
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
