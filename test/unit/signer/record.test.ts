import type { SignerContext } from '../../../src/signer/signerContext';

type Record = typeof import('../../../src/signer/transaction/record');

const REF = { organizationId: 'org_1', transactionId: 'txn_1' };
const STORE = '../../../src/signer/store/transactionsToSign';
const context = {
  clock: { now: () => new Date(), assertInStep: () => undefined },
  readSealedState: async (_: unknown, id: string, { read }: { read?: () => Promise<unknown> } = {}) => {
    await read?.();
    return { state: { id } };
  },
} as unknown as SignerContext;

/** What the database answers, whatever was asked. */
const answer = jest.fn();
let readSealedTransaction: Record['readSealedTransaction'];

// Modules are shared by the files of a worker: this one has its own.
beforeAll(() => {
  jest.isolateModules(() => {
    jest.doMock(STORE, () => ({ readTransactionWithSealed: answer, readUnsealedTransaction: answer }));
    ({ readSealedTransaction } = jest.requireActual<Record>('../../../src/signer/transaction/record'));
  });
  jest.dontMock(STORE);
});

it.each([
  ['of another organization', { id: 'txn_1', organizationId: 'org_2' }],
  ['with another id', { id: 'txn_2', organizationId: 'org_1' }],
])('a transaction %s is not the one that was asked for, though the database gives it', async (_, record) => {
  const found = { record: { ...record, accountId: 'acc_1' }, now: { time: new Date() }, sealed: null };
  answer.mockResolvedValue(found);
  for (const options of [{}, { lock: 'share' as const }]) {
    await expect(readSealedTransaction(context, {} as never, REF, options)).rejects.toThrow(
      'transaction txn_1 not found',
    );
  }
});
