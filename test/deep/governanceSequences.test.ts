import { GOVERNANCE, GOVERNANCE_EVENTS, playSequences } from '../db/operationProperties';
import { LONGEST, RUNS, SEQUENCES_LIMIT_MS } from './sequences';

jest.setTimeout(SEQUENCES_LIMIT_MS);

/** What some hundred sequences need not come across. */
const RARE = [
  'vote forged: invalidSignature',
  'vote otherType: invalidSignature',
  'vote otherContent: invalidSignature',
  'vote approve: proposalExpired',
  'execute approve members/remove: blocked',
  'execute approve groups/update: blocked',
  'execute approve admins/update: blocked',
  'execute reject admins/update: rejected',
  'close: ok',
];

test('hundreds of long sequences about members and admins match the model', async () => {
  await playSequences(GOVERNANCE, {
    runs: RUNS,
    longest: LONGEST,
    mustHappen: [...GOVERNANCE_EVENTS.frequent, ...GOVERNANCE_EVENTS.rare, ...RARE],
  });
});
