import { playSequences, RESOURCE_EVENTS, RESOURCES } from './operationProperties';

jest.setTimeout(600_000);

test('random sequences about groups, policies and accounts match the model', async () => {
  await playSequences(RESOURCES, { runs: 25, mustHappen: RESOURCE_EVENTS.frequent });
});
