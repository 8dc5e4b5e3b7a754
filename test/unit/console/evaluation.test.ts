import { ApiError, NoAnswer, PayloadMismatch, type Schema, type Transaction } from '@orgwallet/client';
import { recipientOf } from '../../../console/src/domain/recipient.ts';
import { conditionsOf, remainingText } from '../../../console/src/text/conditions.ts';
import { errorWithin, fieldErrors, wordsOf } from '../../../console/src/text/errors.ts';
import { recipientText } from '../../../console/src/text/recipient.ts';

const POLICY = {
  id: 'pol_1',
  name: 'Suppliers',
  transactionType: 'TOKEN_TRANSFER',
  limitation: { hours: 24 },
  tokenTransferCondition: {
    tokenDecimals: 6,
    tokenSymbol: 'USDC',
    destinationAddresses: [`0x${'B'.repeat(40)}`],
  },
} as unknown as Schema['Policy'];

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
      conditionsOf(evaluation(failures), POLICY).map(({ condition, text }) => `${condition}: ${text}`),
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
});

describe('a recipient', () => {
  const now = { members: [], accounts: [], policies: [POLICY] };
  const paid = (status: string) =>
    ({
      executionStatus: status,
      type: 'TOKEN_TRANSFER',
      data: { destination: `0x${'b'.repeat(40)}` },
    }) as unknown as Transaction;

  it('is known from policies and completed payments, whatever the case of its digits', () => {
    const found = recipientOf(`0x${'b'.repeat(40)}`, now, [paid('completed'), paid('failed')]);
    expect(recipientText(found)).toBe('named in “Suppliers”, 1 completed transaction to it before');
  });

  it('that is not known is a first one', () => {
    expect(recipientText(recipientOf(`0x${'c'.repeat(40)}`, now, [paid('completed')]))).toBe(
      'unknown address, first time: no completed transaction to it among the last 1',
    );
  });
});

describe('an error', () => {
  it('of the API has the request id, and its fields by their paths', () => {
    const issues = [{ field: 'items[0].name', message: 'too long' }];
    const error = new ApiError('validationError', 400, 'too long', { issues }, 'req_1');
    expect(wordsOf(error)).toEqual({
      title: 'Invalid request',
      message: 'too long',
      advice: 'Correct it, then try again.',
      requestId: 'req_1',
    });
    expect(fieldErrors(error)).toEqual({ 'items[0].name': 'too long' });
    expect(fieldErrors(new ApiError('conflict', 409, 'taken', { field: 'to' }, undefined))).toEqual({
      to: 'taken',
    });
  });

  it('of a list is that of its first entry that is wrong', () => {
    const errors = { 'ids[2]': 'not found', 'items[0].name': 'too long', idsOfOthers: 'none' };
    expect(errorWithin(errors, 'ids')).toBe('not found');
    expect(errorWithin(errors, 'items')).toBe('too long');
    expect(errorWithin(errors, 'items[0].name')).toBe('too long');
    expect(errorWithin(errors, 'items[0].na')).toBeUndefined();
  });

  it('without an answer can be tried again', () => {
    expect(wordsOf(new NoAnswer('', 'key')).advice).toBe('Try again: it takes effect at most once.');
  });

  it('of a payload says that nothing was signed', () => {
    expect(wordsOf(new PayloadMismatch('message.to', 1, 2)).message).toBe(
      'message.to: 2 (expected 1). Nothing was signed.',
    );
  });
});
