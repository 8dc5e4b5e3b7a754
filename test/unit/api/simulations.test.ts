import { Refused } from '../../../src/api/refusals';
import { createSimulations } from '../../../src/api/simulations';
import type { StoredTransaction } from '../../../src/db/storedTransactions';

const FOUND = { status: 'unavailable' } as const;

/** A node that answers when the test says so. */
function slowNode() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const simulate = createSimulations(({ id }) => {
    asked.push(id);
    return new Promise((resolve) => answers.push(() => resolve(FOUND)));
  });
  const of = (id: string, organizationId = 'org_a', networkId = 1) =>
    simulate({ id, organizationId, networkId } as StoredTransaction);
  return { asked, answers, of };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a transaction is simulated once for all who ask while it is', async () => {
  const { asked, answers, of } = slowNode();
  const first = of('txn_1');
  await jest.advanceTimersByTimeAsync(4_000);
  const second = of('txn_1');
  await jest.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['txn_1']);
  answers[0]?.();
  expect(await Promise.all([first, second])).toEqual([FOUND, FOUND]);
  void of('txn_1');
  await jest.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['txn_1', 'txn_1']);
});

test('an organization that asks for many delays neither others nor its other networks', async () => {
  const { asked, answers, of } = slowNode();
  const own = ['txn_1', 'txn_2', 'txn_3', 'txn_4'].map((id) => of(id));
  void of('txn_5', 'org_b');
  void of('txn_6', 'org_a', 2);
  await jest.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(['txn_1', 'txn_2', 'txn_5', 'txn_6']);
  answers[0]?.();
  await own[0];
  await jest.advanceTimersByTimeAsync(0);
  expect(asked.at(-1)).toBe('txn_3');
});

test('one that has waited for 5 s is refused, with a time to try again, and asks for nothing', async () => {
  const { asked, of } = slowNode();
  for (const id of ['txn_1', 'txn_2']) void of(id);
  const refused = of('txn_3').catch((error) => error);
  await jest.advanceTimersByTimeAsync(5_000);
  const error = await refused;
  expect(error).toBeInstanceOf(Refused);
  expect([error.status, error.headers]).toEqual([429, { 'Retry-After': '1' }]);
  expect(asked).toEqual(['txn_1', 'txn_2']);
});
