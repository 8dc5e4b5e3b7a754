import { balanceOverTime } from '../../../console/src/domain/balanceOverTime';
import { movementFilter } from '../../../console/src/domain/movementFilter';
import { monthsBetween, periodOfMonth } from '../../../console/src/domain/movementMonths';
import { counterpartyName, signedText, tokenIdText } from '../../../console/src/text/movements';

const ADDRESS = `0x${'aB'.repeat(20)}`;

describe('what is asked for', () => {
  it('is what somebody looks for, the last day included', () => {
    expect(
      movementFilter({
        accountId: 'acc_1',
        networkId: '31337',
        assetId: `31337:${ADDRESS}`,
        direction: 'in',
        counterparty: ADDRESS,
        status: 'pending',
        verified: 'any',
        from: '2026-11-01',
        to: '2026-11-01',
      }),
    ).toEqual({
      accountId: 'acc_1',
      networkId: 31_337,
      assetId: `31337:${ADDRESS}`,
      direction: 'in',
      counterparty: ADDRESS.toLowerCase(),
      status: 'pending',
      verified: 'any',
      from: new Date(2026, 10, 1).toISOString(),
      to: new Date(2026, 10, 2).toISOString(),
    });
  });

  it('leaves out what cannot be looked for', () => {
    const search = { networkId: 'x', assetId: '1', direction: 'up', counterparty: '0x12', status: 'lost' };
    expect(movementFilter({ ...search, verified: 'true', from: 'now' })).toEqual({});
  });
});

describe('months', () => {
  const now = Date.parse('2026-03-31T12:00:00Z');

  it('are those since the account, in UTC, the last one first', () => {
    expect(monthsBetween(Date.parse('2025-12-31T23:59:59Z'), now)).toEqual([
      '2026-03',
      '2026-02',
      '2026-01',
      '2025-12',
    ]);
    expect(monthsBetween(0, now)).toHaveLength(36);
  });

  it('have a first instant and the one after their last; the present one is not over', () => {
    expect(periodOfMonth('2025-12', now)).toEqual({
      from: '2025-12-01T00:00:00.000Z',
      to: '2026-01-01T00:00:00.000Z',
    });
    expect(periodOfMonth('2026-03', now)).toEqual({ from: '2026-03-01T00:00:00.000Z' });
    expect(['2026-04', '2026-13', 'x'].map((month) => periodOfMonth(month, now))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a balance over time', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const moved = [
    { blockAt: at(9), direction: 'out', rawAmount: '3' },
    { blockAt: at(5), direction: 'in', rawAmount: '4' },
    { blockAt: at(5), direction: 'in', rawAmount: '1' },
  ] as const;
  const proved = { opening: '10', closing: '12', difference: '0' };

  it('leads from the closing back to the opening; within a block it is not known', () => {
    expect(balanceOverTime(proved, moved, true)).toEqual({
      before: 10n,
      points: [
        { at: 5_000, balance: 15n },
        { at: 9_000, balance: 12n },
      ],
    });
  });

  it('is none rather than a false one', () => {
    expect(balanceOverTime({ ...proved, difference: '1' }, moved, true)).toBeUndefined();
    expect(balanceOverTime({ ...proved, difference: null }, moved, true)).toBeUndefined();
    expect(balanceOverTime({ ...proved, opening: null }, moved, true)).toBeUndefined();
    expect(balanceOverTime({ ...proved, opening: '11' }, moved, true)).toBeUndefined();
    expect(balanceOverTime({ ...proved, closing: '1' }, moved, false)).toBeUndefined();
    expect(balanceOverTime({ ...proved, opening: '11' }, moved.slice(0, 2), false)?.before).toBe(11n);
  });
});

describe('words', () => {
  const asset = { id: '1:0x', symbol: 'ETH', name: null, logoUrl: null, decimals: 18, tokenAddress: '0x' };

  it('say whom a movement is from', () => {
    const of = (counterparty: object, direction: 'in' | 'out' = 'in') =>
      counterpartyName({ direction, counterparty: { address: ADDRESS, ...counterparty } as never });
    expect(of({ kind: 'none' })).toBe('minted');
    expect(of({ kind: 'none' }, 'out')).toBe('burned');
    expect(of({ kind: 'member', name: 'Dave' })).toBe('Dave');
    expect(of({ kind: 'policy', name: 'Suppliers' })).toBe('named in “Suppliers”');
    expect(of({ kind: 'unknown' })).toBeUndefined();
  });

  it('have a sign, and the ends of the number of a token', () => {
    expect(signedText('-1500000000000000000', asset)).toBe('−1.5 ETH');
    expect(signedText('1500000000000000000', asset)).toBe('+1.5 ETH');
    expect(signedText('0', asset)).toBe('0 ETH');
    expect([tokenIdText('7'), tokenIdText('9'.repeat(78))]).toEqual(['#7', '#999999…9999']);
  });
});
