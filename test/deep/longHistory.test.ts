import { requestFreeze } from '../../src/signer/journal/requestFreeze';
import { startOwnTemporal } from '../support/stack';
import { until } from '../support/until';
import {
  actionsOf,
  begun,
  reached,
  received,
  startTransactionWorld,
  type TransactionWorld,
  workflowOfTransaction,
} from '../workflows/transactionWorld';

/** Temporal suggests a new run from so many events on: some tries of a transaction that is held. */
const LONG = 60;

let temporal: Awaited<ReturnType<typeof startOwnTemporal>>;
let world: TransactionWorld;

beforeAll(async () => {
  temporal = await startOwnTemporal({ dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': LONG } });
  world = await startTransactionWorld(41_093, { TEMPORAL_ADDRESS: temporal.current.address });
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await temporal?.stop();
});

function ask(type: 'freeze' | 'unfreeze') {
  const open = () => Promise.reject(new Error('the signer does not run'));
  const options = { waitMs: 30_000, open, record: async () => undefined };
  return requestFreeze(world.config.journalFile, { type, organizationId: world.org.id }, options);
}

it('a transaction that is held for long goes on in a new run, and is paid once', async () => {
  await ask('freeze');
  const payment = await begun(world);
  const handle = workflowOfTransaction(world, payment);
  const { runId } = await handle.describe();
  await until('it runs anew', async () => (await handle.describe()).runId !== runId, 90_000);
  const first = world.temporal.workflow.getHandle(handle.workflowId, runId);
  expect(await first.describe()).toMatchObject({ status: { name: 'CONTINUED_AS_NEW' } });
  const { events } = await first.fetchHistory();
  expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  expect(events?.length).toBeLessThan(2 * LONG);
  expect(await handle.describe()).toMatchObject({ status: { name: 'RUNNING' } });
  await ask('unfreeze');
  await reached(world, payment, 'completed');
  expect(await received(world, payment)).toBe(BigInt(payment.value));
  const actions = await actionsOf(world, payment);
  expect(actions.filter((action) => action === 'transaction.executionStarted')).toHaveLength(1);
  expect(actions.filter((action) => /restart|restore/i.test(action))).toEqual([]);
}, 240_000);
