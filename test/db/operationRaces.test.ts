import { playRaces } from './operationProperties';

jest.setTimeout(600_000);

test('what happens at the same time comes out as if it had happened in some order', async () => {
  await playRaces({
    runs: 20,
    mustHappen: ['at once execute: ok', 'at once execute: conflict', 'at once propose: ok'],
  });
});
