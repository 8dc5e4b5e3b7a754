import { completed, GOVERNANCE, playSequences } from './operationProperties';

jest.setTimeout(600_000);

test('random sequences about members and admins match the model', async () => {
  await playSequences(GOVERNANCE, {
    runs: 40,
    mustHappen: [
      ...completed(GOVERNANCE),
      'executed: blocked',
      'executed: rejected',
      'execute approve: thresholdNotMet',
      'execute approve: conflict',
      'execute approve: proposalExpired',
      'claim taken',
      'propose members/remove: conflict',
      'propose admins/update: validationError',
      'vote approve: ok',
      'vote reject: ok',
      'vote approve: forbidden',
      'vote approve: conflict',
      'vote approve: repeated',
      'vote: invalidSignature',
      'vote again: no effect',
      'expire: ok',
      'note',
    ],
  });
});
