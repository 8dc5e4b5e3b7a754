import { Refused } from '../../../src/api/refusals';
import { createTurns } from '../../../src/api/turns';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('an organization that has as many mutations in progress as it may delays itself alone', async () => {
  const turns = createTurns({ atOnce: 10, perOrganization: 2 });
  const [first] = await Promise.all([turns.take('org_a'), turns.take('org_a')]);
  const third = turns.take('org_a');
  await turns.take('org_b');
  first?.();
  expect(typeof (await third)).toBe('function');
});

test.each([
  ['organization', { atOnce: 10, perOrganization: 1 }, 'org_a', 'of this organization'],
  ['process', { atOnce: 1, perOrganization: 1 }, 'org_b', 'more than 1 mutations are in progress'],
])('a full %s refuses after 5 s, with a time to try again', async (_, limits, other, reason) => {
  const turns = createTurns(limits);
  const end = await turns.take('org_a');
  const refused = turns.take(other).catch((error) => error);
  await jest.advanceTimersByTimeAsync(5_000);
  const error = await refused;
  expect(error).toBeInstanceOf(Refused);
  expect(error.status).toBe(429);
  expect(error.headers).toEqual({ 'Retry-After': '1' });
  expect(error.message).toContain(reason);
  end();
  expect(typeof (await turns.take(other))).toBe('function');
});

test('a turn that is ended twice is given back once', async () => {
  const turns = createTurns({ atOnce: 1, perOrganization: 1 });
  const end = await turns.take('org_a');
  end();
  end();
  await turns.take('org_a');
  const waits = turns.take('org_a').catch((error) => error);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(await waits).toBeInstanceOf(Refused);
});
