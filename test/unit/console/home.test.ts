import type { Approval, Schema, Transaction } from '@orgwallet/client';
import { shortAmountText } from '../../../console/src/domain/amounts.ts';
import { firstSteps } from '../../../console/src/domain/firstSteps.ts';
import { paidPerDay, startOfDay } from '../../../console/src/domain/paidPerDay.ts';
import { problemsOf } from '../../../console/src/domain/problems.ts';
import { heldOf, lackingOf, unavailableOf } from '../../../console/src/domain/totals.ts';
import { failureTitle } from '../../../console/src/text/failures.ts';
import { partText, partTitle } from '../../../console/src/text/parts.ts';

const NOW = Date.parse('2026-05-01T12:00:00.000Z');
const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
const DAY = 24 * 60;

const open = { executionStatus: null, signatureStatus: 'pendingReviewSignatures', expiresAt: at(7 * DAY) };
let made = 0;
const nextId = (kind: string) => {
  made += 1;
  return `${kind}_${made}`;
};
const transaction = (more: object) =>
  ({ id: nextId('txn'), ...open, updatedAt: at(0), ...more }) as unknown as Approval;
const proposal = (more: object) =>
  ({
    id: nextId('prop'),
    ...open,
    resourceType: 'accounts',
    action: 'create',
    ...more,
  }) as unknown as Approval;
const failed = (code: string, more: object = {}) => ({
  executionStatus: 'failed',
  failure: { code, message: 'why', at: at(-5), attempt: 1, retryable: true, resumes: false, ...more },
});

describe('what was paid', () => {
  const payment = (days: number, rawAmount: string, more: object = {}) =>
    ({
      type: 'TOKEN_TRANSFER',
      executionStatus: 'completed',
      result: { executedAt: at(-days * DAY) },
      data: { networkId: 1, asset: { id: '1:0xa', symbol: 'USDC', decimals: 6 }, rawAmount },
      ...more,
    }) as unknown as Transaction;
  const other = { networkId: 2, asset: { id: '2:0xa', symbol: 'USDC', decimals: 6 }, rawAmount: '9' };

  it('is added up day by day, each asset of each network apart, the one with most payments first', () => {
    const paid = paidPerDay(
      [
        payment(0, '9', { data: other }),
        payment(0, '5'),
        payment(0, (2n ** 255n).toString()),
        payment(2, '7'),
        payment(3, '1'),
        payment(0, '100', { executionStatus: 'failed' }),
        payment(0, '100', { type: 'CONTRACT_INTERACTION' }),
      ],
      NOW,
      3,
    );
    expect(paid.map(({ networkId, total, days }) => [networkId, total, days])).toEqual([
      [1, 2n ** 255n + 12n, [7n, 0n, 2n ** 255n + 5n]],
      [2, 9n, [0n, 0n, 9n]],
    ]);
  });

  it('begins with the day, where the browser is', () => {
    const start = new Date(startOfDay(NOW, 29));
    expect([start.getHours(), start.getMinutes(), start.getSeconds()]).toEqual([0, 0, 0]);
    expect(Math.round((NOW - start.getTime()) / 86_400_000)).toBeGreaterThanOrEqual(29);
    expect(paidPerDay([], NOW, 30)).toEqual([]);
  });
});

describe('the totals', () => {
  const missing = (networkId: number, reason: Schema['MissingReason'], assetId: string | null = null) => ({
    ...{ networkId, assetId, accounts: 1, reason },
  });

  it('are of what is held, and say what they lack', () => {
    const totals = ['0', '5'].map((rawAmount) => ({ networkId: 1, rawAmount }) as Schema['Total']);
    const read = {
      prices: null,
      totals,
      missing: [
        ...[missing(1, 'failed', '1:0xa'), missing(1, 'failed', '1:0xb'), missing(1, 'limit')],
        ...[missing(3, 'unavailable'), missing(3, 'unavailable')],
      ],
    };
    expect(heldOf(read)).toEqual([totals[1]]);
    expect(unavailableOf(read)).toEqual([3]);
    expect(lackingOf(read).map(({ networkId, reason }) => [networkId, reason])).toEqual([
      [1, 'failed'],
      [1, 'limit'],
    ]);
  });
});

describe('an amount in short', () => {
  it.each([
    ['1234567891234567891', 18, '1.23457'],
    ['123456789012345678901234', 18, '123\u202f456.79'],
    ['1234', 18, '0.000000000000001234'],
    ['1100001', 6, '1.1'],
    ['0', 18, '0'],
    ['1234567', 0, '1\u202f234\u202f567'],
    ['1234567', null, '1\u202f234\u202f567'],
  ] as const)('%s with %s decimals is %s', (raw, decimals, text) => {
    expect(shortAmountText(raw, decimals)).toBe(text);
  });
});

describe('what is wrong', () => {
  const kinds = (approval: Approval) =>
    Object.entries(problemsOf([approval], [], NOW)).flatMap(([kind, found]) =>
      found.length > 0 ? [kind] : [],
    );

  it.each<[string, Approval, readonly string[]]>([
    ['an open request', transaction({}), []],
    ['one that failed', transaction(failed('rpc')), ['failed']],
    ['one that is blocked', transaction({ ...failed('budget'), executionStatus: 'blocked' }), ['failed']],
    ['one that goes on by itself', transaction(failed('rpc', { resumes: true })), []],
    ['one that failed for good', transaction(failed('reverted', { retryable: false })), ['failed']],
    [
      'one that failed for good two days ago',
      transaction(failed('reverted', { retryable: false, at: at(-2 * DAY) })),
      [],
    ],
    [
      'one whose relayer is not funded',
      transaction(failed('relayerFunds', { resumes: true })),
      ['relayerFunds'],
    ],
    [
      'one that is processed for 3 minutes',
      transaction({ executionStatus: 'processing', updatedAt: at(-3) }),
      ['unsent'],
    ],
    [
      'one that is processed for 1 minute',
      transaction({ executionStatus: 'processing', updatedAt: at(-1) }),
      [],
    ],
    [
      'one that was sent, and is not in a block',
      transaction({ executionStatus: 'processing', updatedAt: at(-30), chain: { confirmations: 0 } }),
      [],
    ],
    ['a proposal that expires in an hour', proposal({ expiresAt: at(60) }), ['expiring']],
    ['one that has expired', proposal({ expiresAt: at(-1) }), []],
    [
      'one that is completed, and would expire',
      proposal({ executionStatus: 'completed', expiresAt: at(60) }),
      [],
    ],
  ])('of %s', (_, approval, expected) => {
    expect(kinds(approval)).toEqual(expected);
  });

  const part = (name: string, more: object = {}) =>
    ({
      ...{ part: name, networkId: null, status: 'down', reason: 'why', lastSeen: at(-3) },
      ...more,
    }) as Schema['Part'];
  const processed = transaction({ executionStatus: 'processing', updatedAt: at(-3), networkId: 1 });

  it('is a part that is down, with what waits for it: one problem for one cause', () => {
    const found = problemsOf([processed], [part('signer')], NOW);
    expect(found.down.map(({ waiting }) => waiting)).toEqual([[processed]]);
    expect(found.unsent).toEqual([]);
    expect(problemsOf([processed], [part('signer', { status: 'up' })], NOW)).toMatchObject({
      down: [],
      unsent: [processed],
    });
  });

  it('is the relayer of the network that a payment waits on', () => {
    const unfunded = transaction({ ...failed('relayerFunds', { resumes: true }), networkId: 1 });
    const waitingOn = (networkId: number) => {
      const { down, relayerFunds } = problemsOf([unfunded], [part('relayers', { networkId })], NOW);
      return [down[0]?.waiting.length, relayerFunds.length];
    };
    expect([waitingOn(1), waitingOn(2)]).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('is not a part that is slow, or that cannot be known while another is down', () => {
    const parts = [part('network', { status: 'slow' }), part('signer', { status: 'unknown' })];
    expect(problemsOf([], parts, NOW).down).toEqual([]);
  });

  it('says since when a part was not seen, and what that means', () => {
    expect(partTitle(part('signer'), undefined)).toMatch(/^The signer has not been seen since /);
    expect(partTitle(part('worker', { lastSeen: null }), undefined)).toBe('The worker has not been seen yet');
    expect(partTitle(part('relayers', { networkId: 1 }), 'Ethereum')).toBe(
      'Ethereum: a relayer has too little for gas',
    );
    expect(partText(part('relayers'))).toMatch(/^Payments there wait for gas: why\. What waits /);
    expect(partText(part('signer'))).toMatch(/^Requests can be signed\. Nothing is executed\./);
  });

  it('is in words, not in a code', () => {
    expect(failureTitle('rpc')).toBe('The network did not answer');
  });
});

describe('the first steps', () => {
  const NOTHING = { account: false, fund: false, policy: false, send: false };
  const statesOf = (done: Partial<typeof NOTHING>, requests: readonly Approval[] = []) =>
    firstSteps({ ...NOTHING, ...done }, requests).map(({ state }) => state);

  it('begin with an account, and go on with what is not done', () => {
    expect(statesOf({})).toEqual(['next', 'later', 'later', 'later']);
    expect(statesOf({ account: true })).toEqual(['done', 'next', 'later', 'later']);
    expect(statesOf({ account: true, fund: true, policy: true })).toEqual(['done', 'done', 'done', 'next']);
  });

  it('wait for what was asked for', () => {
    const account = proposal({});
    const [first] = firstSteps(NOTHING, [proposal({ action: 'update' }), account]);
    expect(first).toEqual({ name: 'account', state: 'waiting', request: account });
    expect(statesOf({ account: true, fund: true, policy: true }, [transaction({})])[3]).toBe('waiting');
  });
});
