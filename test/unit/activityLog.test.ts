import type { Info } from '@temporalio/activity';
import { observeActivities } from '../../src/activityLog';
import type { Logger } from '../../src/logging';

const LONG = 'x'.repeat(1_000_000);

test.each([
  ['a long text', LONG],
  ['fields that are not ids', { organizationId: LONG, id: { x: LONG }, accountId: [LONG], networkId: LONG }],
])('a message of any size makes a short line in the log: %s', async (_, message) => {
  const lines: object[] = [];
  const logger = { info: (fields: object) => lines.push(fields) } as unknown as Logger;
  await observeActivities(logger)({ activityType: 'x', attempt: 1 } as Info, [message], async () => null);
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines).length).toBeLessThan(300);
});

test('the ids of a message are in its line', async () => {
  const lines: object[] = [];
  const logger = { info: (fields: object) => lines.push(fields) } as unknown as Logger;
  const message = { organizationId: 'org_1', transactionId: 'txn_1', networkId: 1 };
  await observeActivities(logger)({ activityType: 'x', attempt: 1 } as Info, [message], async () => null);
  expect(lines).toMatchObject([{ organizationId: 'org_1', approvalId: 'txn_1', networkId: 1 }]);
});
