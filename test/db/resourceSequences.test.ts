import { completed, playSequences, RESOURCES } from './operationProperties';

jest.setTimeout(600_000);

test('whatever members and strangers do about groups, policies and accounts, the database is what the rules say', async () => {
  await playSequences(RESOURCES, {
    runs: Number(process.env.RUNS ?? 255),
    mustHappen: [
      ...completed(RESOURCES),
      'finish accounts/create: completed',
      'finish accounts/create: failed',
      'finish accounts/update: completed',
      'execute approve policies/create: blocked',
      'execute approve: thresholdNotMet',
      'execute approve: proposalExpired',
      'claim taken',
      'propose policies/create: validationError',
      'execute reject policies/create: rejected',
      'expire: ok',
      'note',
    ],
  });
});
