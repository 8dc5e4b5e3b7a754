import type { Schema } from '@orgwallet/client';
import { conditionsOf, remainingText } from '../../../console/src/text/conditions.ts';

const POLICY = {
  id: 'pol_1',
  name: 'Suppliers',
  transactionType: 'TOKEN_TRANSFER',
  limitation: { hours: 24 },
  tokenTransferCondition: {
    tokenDecimals: 6,
    tokenSymbol: 'USDC',
  },
} as unknown as Schema['Policy'];

const NETWORK = { nativeAsset: { symbol: 'ETH', decimals: 18 } } as unknown as Schema['Network'];

const evaluation = (failures: readonly Schema['ConditionFailure'][]) =>
  ({ policy: { id: 'pol_1', name: 'Suppliers' }, failures }) as unknown as Schema['Evaluation'];

describe('the evaluation of a policy', () => {
  it('has every condition, and amounts in whole units; hours stay', () => {
    const failures = [
      { condition: 'amount', found: '9000500000', wanted: 'at most 5000000000' },
      {
        condition: 'budget',
        found: '0 before this 9000500000',
        wanted: 'at most 5000000000 within any 24 hours',
      },
    ] as const;
    expect(
      conditionsOf(evaluation(failures), POLICY, NETWORK).map(
        ({ condition, text }) => `${condition}: ${text}`,
      ),
    ).toEqual([
      'Network: met',
      'Account: met',
      'Initiator: met',
      'Transaction type: met',
      'Token: met',
      'Amount: 9,000.5 (permitted: at most 5,000)',
      'Recipient: met',
      'Budget: 0 before this 9,000.5 (permitted: at most 5,000 within any 24 hours)',
    ]);
  });

  it('has the value of a call in whole units of the native currency', () => {
    const failures = [
      { condition: 'value', found: '2000000000000000000', wanted: 'at most 1500000000000000000' },
    ] as const;
    expect(conditionsOf(evaluation(failures), POLICY, NETWORK)).toContainEqual({
      condition: 'Value',
      isMet: false,
      text: '2 (permitted: at most 1.5)',
    });
  });

  it('of another transaction type says nothing about the conditions of its own kind', () => {
    const failures = [
      { condition: 'transactionType', found: 'CONTRACT_INTERACTION', wanted: 'TOKEN_TRANSFER' },
    ] as const;
    expect(
      conditionsOf(evaluation(failures), POLICY, NETWORK).map(({ condition }) => condition),
    ).not.toContain('Amount');
  });

  it('says what is left of the budget', () => {
    const until = '2026-01-01T00:00:00.000Z';
    expect(remainingText({ amount: '1500000', until }, POLICY)).toBe('1.5 USDC left');
    expect(remainingText({ count: 1, until }, POLICY)).toBe('1 execution left');
    expect(remainingText(null, POLICY)).toBeUndefined();
  });
});
