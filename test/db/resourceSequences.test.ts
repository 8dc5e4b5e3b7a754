import { playSequences, RESOURCES } from './operationProperties';

jest.setTimeout(600_000);

test('random sequences about groups, policies and accounts match the model', async () => {
  await playSequences(RESOURCES, { runs: 10, mustHappen: [] });
});
