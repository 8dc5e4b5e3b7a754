import { GOVERNANCE, playSequences } from './operationProperties';

jest.setTimeout(600_000);

test('random sequences about members and admins match the model', async () => {
  await playSequences(GOVERNANCE, { runs: 10, mustHappen: [] });
});
