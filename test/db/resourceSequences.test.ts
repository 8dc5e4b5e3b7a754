import { completed, playSequences, RESOURCES } from './operationProperties';

jest.setTimeout(600_000);

test('random sequences about groups, policies and accounts match the model', async () => {
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
