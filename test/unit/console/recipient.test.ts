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
    const found = recipientOf(`0x${'b'.repeat(40)}`, now, [paid('completed'), paid('failed')]);
    expect(recipientText(found)).toBe('named in “Suppliers”, 1 completed transaction to it before');
  });

  it('that has a completed payment alone is known from it', () => {
    const found = recipientOf(`0x${'b'.repeat(40)}`, { ...now, policies: [] }, [paid('completed')]);
    expect(recipientText(found)).toBe('known address, 1 completed transaction to it before');
  });

  it('that is not known is a first one', () => {
    expect(recipientText(recipientOf(`0x${'c'.repeat(40)}`, now, [paid('completed')]))).toBe(
      'unknown address, first time: no completed transaction to it among the last 1',
    );
  });
});
