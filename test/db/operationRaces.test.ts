import { playRaces } from './operationProperties';

jest.setTimeout(600_000);

test('concurrent operations are serializable', async () => {
  await playRaces({
    runs: 10,
    mustHappen: ['at once execute: ok', 'at once execute: conflict', 'at once propose: ok'],
  });
});
