import { adminsSafeFindings } from '../../../src/cli/doctor/adminsSafeChecks';
import type { AdminsSafeStatus } from '../../../src/domain/adminsSafe';

import { anAddress } from '../../support/builders';

const NOW = Date.parse('2026-01-01T12:00:00Z');

const admins = (threshold: number, types: readonly ('user' | 'api')[]) => ({
  threshold,
  members: types.map((type, i) => ({
    ...{ id: `mem_${i}`, name: `Member ${i}`, type, walletAddress: anAddress(), walletKind: 'key' as const },
  })),
});

const safe = (networkId: number, status: AdminsSafeStatus, minutes: number) => ({
  ...{ networkId, status, owners: null, threshold: null, sequence: null, reason: null },
  ...{ since: new Date(NOW - minutes * 60_000), observedAt: new Date(NOW) },
});

const texts = (...of: Parameters<typeof adminsSafeFindings>) =>
  adminsSafeFindings(...of).map(({ status, found }) => `${status}: ${found}`);

describe("the admins' Safe in doctor", () => {
  const people = admins(2, ['user', 'user', 'api']);

  it('is not named while it is what was decided, or soon will be', () => {
    const safes = [safe(1, 'current', 600), safe(10, 'behind', 5), safe(11, 'missing', 59)];
    expect(texts('org_1', { ...people, safes }, NOW)).toEqual([]);
  });

  it('is named where it lags for over an hour, was changed, or nobody can own it', () => {
    const safes = [
      safe(1, 'behind', 61),
      safe(2, 'diverged', 1),
      safe(3, 'independent', 1),
      safe(4, 'impossible', 1),
      safe(5, 'unknown', 90),
    ];
    expect(texts('org_1', { ...people, safes }, NOW)).toEqual([
      'fail: its owners have changed it: network 2 diverged, network 3 independent',
      'fail: for over an hour: network 1 behind, network 5 unknown',
      'warn: network 4 impossible',
    ]);
  });

  it('is named where one admin, or bots alone, can take the accounts over', () => {
    expect(texts('org_1', { ...admins(1, ['user', 'api']), safes: [] }, NOW)).toEqual([
      'warn: one admin alone can take the accounts over (threshold 1)',
    ]);
    expect(texts('org_1', { ...admins(2, ['user', 'api', 'api']), safes: [] }, NOW)).toEqual([
      'warn: bots alone can take the accounts over (2 of 2)',
    ]);
  });
});
