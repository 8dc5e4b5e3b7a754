import { fail, ok, slow, warn } from '../../../src/cli/doctor/finding';
import { roleFinding } from '../../../src/cli/doctor/roleChecks';
import { withoutRepeated } from '../../../src/cli/doctor/serviceChecks';

const at = new Date('2026-01-01T12:00:30Z');
const URL = 'http://127.0.0.1:9090/statusz';
const reports = (...unavailable: string[]) => ({
  ...fail('service', `${URL} reports unavailable: ${unavailable.join(', ')}`, 'see its log'),
  unavailable,
});

describe('doctor', () => {
  it('says of a role which queues nobody polls, and when it was seen last', () => {
    const queues = [{ name: 'orgwallet-signer', isUp: false, lastSeen: new Date(at.getTime() - 41_000) }];
    const role = { role: 'signer', queues, isUp: false, lastSeen: queues[0]?.lastSeen ?? null } as const;
    expect(roleFinding(role, at)).toEqual({
      part: 'signer',
      status: 'fail',
      found: 'no process polls orgwallet-signer (last seen 41 s ago)',
      todo: expect.stringMatching(/ORGWALLET_ROLES has signer/),
    });
    expect(roleFinding({ ...role, lastSeen: null }, at).found).toMatch(/\(never seen\)$/);
  });

  it('reports a cause once: the service says the same as the finding of the part', () => {
    const signer = fail('signer', 'no process polls orgwallet-signer (last seen 41 s ago)', 'start it');
    expect(withoutRepeated([reports('signer'), signer])).toEqual([
      ok('service', `${URL} answers, and reports the same`),
      signer,
    ]);
  });

  it.each([
    ['network:5', 'network 5'],
    ['relayers:5', 'relayer 5'],
    ['worker:chain', 'chain worker'],
    ['worker:signer', 'signer'],
    ['journal', 'comparison'],
    ['signerDatabase', 'database'],
    ['temporal', 'temporal'],
  ])('knows %s of the service as its own %s', (name, part) => {
    const own = fail(part, 'it is down', 'start it');
    expect(withoutRepeated([reports(name), own])[0]).toMatchObject({ status: 'ok' });
    expect(withoutRepeated([reports(name), ok(part, 'fine')])[0]).toMatchObject({
      status: 'fail',
      found: `${URL} reports unavailable: ${name}`,
    });
  });

  it('says once that a host does not answer, and not that the service is slow to say so', () => {
    const node = fail('network 5', '127.0.0.1:8545 has not answered within 20 s', 'see its log');
    const signers = fail('endpoints 5', node.found, 'correct signerRpcUrls');
    const late = slow('service', 10_000);
    expect(withoutRepeated([reports('network:5'), late, node, signers])).toEqual([
      ok('service', `${URL} answers, and reports the same`),
      node,
    ]);
    expect(withoutRepeated([ok('service', 'fine'), late])).toContainEqual(late);
  });

  it('says of work that waits for a part that there is nothing to do about it', () => {
    const stuck = warn('executions', '1 without progress for 30 s: txn_1', 'transactions show <id>');
    const signer = fail('signer', 'no process polls orgwallet-signer', 'start it');
    expect(withoutRepeated([stuck, signer])).toEqual([
      { ...stuck, todo: 'nothing here: it goes on once this is back: signer' },
      signer,
    ]);
    expect(withoutRepeated([stuck])).toEqual([stuck]);
  });
});
