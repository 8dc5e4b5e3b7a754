import { completed, playSequences, RESOURCES } from './operationProperties';

jest.setTimeout(600_000);

test('whatever they do about groups, policies and accounts, the database is what the rules say', async () => {
  await playSequences(RESOURCES, {
    runs: 40,
    mustHappen: [
      ...completed(RESOURCES),
      'finish accounts/create: completed',
      'finish accounts/create: failed',
      'executed: blocked',
      'executed: rejected',
      'execute approve: thresholdNotMet',
      'execute approve: proposalExpired',
      'claim taken',
      'propose policies/create: validationError',
      'expire: ok',
      'note',
    ],
  });
});
