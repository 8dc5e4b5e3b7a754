import { askEach, type Cancellation } from '../../../src/cli/cancelOpen';
import type { MessageOutcome } from '../../../src/temporal/approvalMessages';
import { TemporalUnavailable } from '../../../src/temporal/client';

const refs = ['txn_1', 'txn_2', 'txn_3'].map((transactionId) => ({ organizationId: 'org_1', transactionId }));
const requested = { ok: true } as MessageOutcome;

/** Asks for all of them; `answer` gets the id, and how often that one was asked before. */
async function ask(answer: (id: string, before: number) => MessageOutcome) {
  const asked: string[] = [];
  const reported: Cancellation[] = [];
  const cancellations = await askEach(
    refs,
    async ({ transactionId: id }) => {
      asked.push(id);
      return answer(id, asked.filter((one) => one === id).length - 1);
    },
    (one) => reported.push(one),
    { forMs: 30, pauseMs: 5 },
  );
  return { asked, reported, cancellations };
}

const away = () => {
  throw new TemporalUnavailable(new Error('down'));
};

test('one request that cannot be delivered stops no other, and is repeated', async () => {
  const { cancellations, reported } = await ask((id, before) =>
    id === 'txn_1' && before < 2 ? away() : requested,
  );
  expect(cancellations).toEqual(refs.map(({ transactionId: id }) => ({ id, refusal: null })));
  expect(reported).toEqual([]);
});

test('what is not delivered is asked once more after all others, and reported', async () => {
  const { asked, reported, cancellations } = await ask((id) => (id === 'txn_1' ? away() : requested));
  expect(asked.lastIndexOf('txn_1')).toBeGreaterThan(asked.indexOf('txn_3'));
  expect(reported).toEqual([{ id: 'txn_1', refusal: expect.stringContaining('Temporal') }]);
  expect(cancellations.map(({ refusal }) => refusal === null)).toEqual([false, true, true]);
});

test('a refusal and an unexpected error are results of their own transaction', async () => {
  const { asked, cancellations } = await ask((id) => {
    if (id === 'txn_2') throw new Error('a fault');
    if (id === 'txn_3') return requested;
    return { ok: false, refusal: { code: 'conflict', message: 'it is completed' } } as MessageOutcome;
  });
  expect(asked).toEqual(['txn_1', 'txn_2', 'txn_3']);
  expect(cancellations.map(({ refusal }) => refusal)).toEqual(['it is completed', 'a fault', null]);
});

test('a workflow that is not running is asked again', async () => {
  const { cancellations } = await ask((_id, before) =>
    before === 0 ? ({ workflowClosed: true } as unknown as MessageOutcome) : requested,
  );
  expect(cancellations.every(({ refusal }) => refusal === null)).toBe(true);
});
