import type { Schema } from '@orgwallet/client';
import { conditionsOf, remainingText, usedBudget } from '../../../console/src/text/conditions.ts';

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

const evaluation = (failures: readonly Schema['ConditionFailure'][]) =>
  ({ policy: { id: 'pol_1', name: 'Suppliers' }, failures }) as unknown as Schema['Evaluation'];

describe('the evaluation of a policy', () => {
  it('has every condition, and amounts as the service gives them', () => {
    const failures = [
      { condition: 'amount', found: '9000.5 "USDC"', wanted: 'at most 5000 "USDC"' },
      {
        condition: 'budget',
        found: '0 "USDC" before this 9000.5 "USDC"',
        wanted: 'at most 5000 "USDC" within any 24 hours',
      },
    ] as const;
    expect(
      conditionsOf(evaluation(failures), POLICY).map(({ condition, text }) => `${condition}: ${text}`),
    ).toEqual([
      'Network: met',
      'Account: met',
      'Initiator: met',
      'Transaction type: met',
      'Token: met',
      'Amount: 9000.5 "USDC" (permitted: at most 5000 "USDC")',
      'Recipient: met',
      'Budget: 0 "USDC" before this 9000.5 "USDC" (permitted: at most 5000 "USDC" within any 24 hours)',
    ]);
  });

  it('of another transaction type says nothing about the conditions of its own kind', () => {
    const failures = [
      { condition: 'transactionType', found: 'CONTRACT_INTERACTION', wanted: 'TOKEN_TRANSFER' },
    ] as const;
    expect(conditionsOf(evaluation(failures), POLICY).map(({ condition }) => condition)).not.toContain(
      'Amount',
    );
  });

  it('says what is left of the budget', () => {
    const until = '2026-01-01T00:00:00.000Z';
    expect(remainingText({ amount: '1500000', until }, POLICY)).toBe('1.5 USDC left');
    expect(remainingText({ count: 1, until }, POLICY)).toBe('1 execution left');
    expect(remainingText(null, POLICY)).toBeUndefined();
  });

  it('says how much of the budget is used', () => {
    const until = '2026-01-01T00:00:00.000Z';
    const tokenTransferCondition = { tokenDecimals: 6, tokenSymbol: 'USDC', amountThreshold: '5000000' };
    const policy = { ...POLICY, tokenTransferCondition } as unknown as Schema['Policy'];
    expect(usedBudget({ amount: '1500000', until }, policy)).toEqual({ used: 3_500_000n, of: 5_000_000n });
    // The policy was changed meanwhile, and what is left is not of this one.
    expect(usedBudget({ amount: '9000000', until }, policy)).toEqual({ used: 0n, of: 5_000_000n });
    expect(usedBudget({ count: 0, until }, policy)).toEqual({ used: 1n, of: 1n });
    expect(usedBudget(null, policy)).toBeUndefined();
    expect(usedBudget({ amount: '1', until }, undefined)).toBeUndefined();
  });
});
