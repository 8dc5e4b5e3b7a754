import type { Schema, Transaction } from '@orgwallet/client';
import { recipientOf } from '../../../console/src/domain/recipient.ts';
import { recipientText } from '../../../console/src/text/recipient.ts';

const POLICY = {
  name: 'Suppliers',
  transactionType: 'TOKEN_TRANSFER',
  tokenTransferCondition: { destinationAddresses: [`0x${'B'.repeat(40)}`] },
} as unknown as Schema['Policy'];

describe('a recipient', () => {
  const now = { members: [], accounts: [], policies: [POLICY] };
  const paid = (status: string) =>
    ({
      executionStatus: status,
      type: 'TOKEN_TRANSFER',
      data: { destination: `0x${'b'.repeat(40)}` },
    }) as unknown as Transaction;

  it('is known from policies and completed payments, whatever the case of its digits', () => {
    const found = recipientOf(`0x${'b'.repeat(40)}`, now, {
      transactions: [paid('completed'), paid('rejected')],
      hasMore: false,
    });
    expect(recipientText(found)).toBe('named in “Suppliers”, 1 completed transaction to it before');
  });

  it('that has a completed payment alone is known from it', () => {
    const found = recipientOf(
      `0x${'b'.repeat(40)}`,
      { ...now, policies: [] },
      {
        transactions: [paid('completed')],
        hasMore: true,
      },
    );
    expect(recipientText(found)).toBe('known address, at least 1 completed transaction to it before');
  });

  it('that is not known is a first one', () => {
    expect(recipientText(recipientOf(`0x${'c'.repeat(40)}`, now, { transactions: [], hasMore: false }))).toBe(
      'unknown address, first time: no completed transaction to it before',
    );
  });
});
