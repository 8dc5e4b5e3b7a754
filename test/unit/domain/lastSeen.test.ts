import { type LastSeen, seenRole, silentText } from '../../../src/domain/lastSeen';

const at = new Date('2026-01-01T12:00:30Z');
const before = (seconds: number) => new Date(at.getTime() - seconds * 1_000);
const seen = (seconds: number, isUp: boolean) => ({ lastSeen: before(seconds), isUp });

const known: LastSeen = {
  at,
  queues: new Map([
    ['q-chain-1', seen(3, true)],
    ['q-chain-2', seen(90, false)],
  ]),
  signer: seen(4, true),
};

describe('a role', () => {
  it('is up where each of its queues is polled, and was seen when the one before longest was', () => {
    const chain = { ...known, queues: new Map([...known.queues, ['q-chain-2', seen(5, true)]]) };
    const role = seenRole('chain', ['q-chain-1', 'q-chain-2'], chain);
    expect([role.isUp, role.lastSeen, silentText(role)]).toEqual([true, before(5), undefined]);
  });

  it('is silent where one queue is not polled, and says which', () => {
    const role = seenRole('chain', ['q-chain-1', 'q-chain-2'], known);
    expect([role.isUp, role.lastSeen, silentText(role)]).toEqual([
      false,
      before(90),
      'no process polls q-chain-2',
    ]);
  });

  it('was never seen where nobody has ever polled a queue', () => {
    const role = seenRole('chain', ['q-chain-1', 'q-chain-3'], known);
    expect([role.isUp, role.lastSeen, silentText(role)]).toEqual([false, null, 'no process polls q-chain-3']);
  });

  it('that signs polls all of its queues while it has the lease', () => {
    const queues = ['q-signer', 'q-signer-1'];
    expect(seenRole('signer', queues, known)).toMatchObject({ isUp: true, lastSeen: before(4) });
    const silent = seenRole('signer', queues, { ...known, signer: seen(41, false) });
    expect([silent.lastSeen, silentText(silent)]).toEqual([
      before(41),
      'no process polls q-signer, q-signer-1',
    ]);
  });
});
