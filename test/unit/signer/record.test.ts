import type { SignerContext } from '../../../src/signer/signerContext';
import {
  readTransactionWithSealed,
  readUnsealedTransaction,
} from '../../../src/signer/store/transactionsToSign';
import { readSealedTransaction } from '../../../src/signer/transaction/record';

jest.mock('../../../src/signer/store/transactionsToSign');

const REF = { organizationId: 'org_1', transactionId: 'txn_1' };
const context = {
  clock: { now: () => new Date(), assertInStep: () => undefined },
  readSealedState: async (_: unknown, id: string, { read }: { read?: () => Promise<unknown> } = {}) => {
    await read?.();
    return { state: { id } };
  },
} as unknown as SignerContext;

/** What the database answers, whatever was asked. */
const answer = (record: { id: string; organizationId: string }) => {
  const found = {
    record: { ...record, accountId: 'acc_1' },
    now: { time: new Date() },
    sealed: null,
  } as never;
  jest.mocked(readTransactionWithSealed).mockResolvedValue(found);
  jest.mocked(readUnsealedTransaction).mockResolvedValue(found);
};

it.each([
  ['of another organization', { id: 'txn_1', organizationId: 'org_2' }],
  ['with another id', { id: 'txn_2', organizationId: 'org_1' }],
])('a transaction %s is not the one that was asked for, though the database gives it', async (_, record) => {
  answer(record);
  for (const options of [{}, { lock: 'share' as const }]) {
    await expect(readSealedTransaction(context, {} as never, REF, options)).rejects.toThrow(
      'transaction txn_1 not found',
    );
  }
});
