import { completed, GOVERNANCE, playSequences } from './operationProperties';

jest.setTimeout(600_000);

test('whatever members and strangers do about members and admins, the database is what the rules say', async () => {
  await playSequences(GOVERNANCE, {
    runs: Number(process.env.RUNS ?? 255),
    mustHappen: [
      ...completed(GOVERNANCE),
      'execute approve members/remove: blocked',
      'execute approve groups/update: blocked',
      'execute approve: thresholdNotMet',
      'execute approve: conflict',
      'execute approve: proposalExpired',
      'execute reject admins/update: rejected',
      'propose admins/update: conflict',
      'claim taken',
      'propose members/remove: conflict',
      'vote approve: ok',
      'vote reject: ok',
      'vote approve: forbidden',
      'vote approve: conflict',
      'vote forged: invalidSignature',
      'vote otherType: invalidSignature',
      'vote otherContent: invalidSignature',
      'vote again: no effect',
      'expire: ok',
      'close: ok',
      'note',
    ],
  });
});
