/** @load */
import { sampleOf } from '../bench/figures';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import type { TestOrganization } from '../support/service';
import { fundOnLocalChain, networksFile, rpc, sharedStack, startOwnChain } from '../support/stack';
import { DEEP } from '../support/suite';
import {
  aTransactionBody,
  createTransaction,
  makePolicies,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { until } from '../support/until';
import { sending } from './transactionWorld';
import { startWorld, type World } from './world';

const STEADY_ID = 31_337;
const HALTED_ID = 41_081;
/** More wait than a worker has slots. */
const SLOTS = DEEP ? 20 : 2;
const OPEN = DEEP ? 1_000 : 8;
const AT_ONCE = 4;
/** Payments on the steady network before and meanwhile, whose medians are shown. */
const PAYMENTS = DEEP ? 30 : 1;

interface On {
  readonly networkId: number;
  readonly policy: Shown;
}

let halted: Awaited<ReturnType<typeof startOwnChain>>;
let world: World;
let org: TestOrganization;
let account: Shown;
let onSteady: On;
let onHalted: On;

beforeAll(async () => {
  halted = await startOwnChain(HALTED_ID);
  const steady = sharedStack().chains.find(({ chainId }) => chainId === STEADY_ID);
  const file = networksFile([
    { id: STEADY_ID, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: HALTED_ID, name: 'Halted', rpcUrl: halted.current.rpcUrl },
  ]);
  world = await startWorld({
    env: {
      NETWORKS_FILE: file,
      ACTIVITY_SLOTS: String(SLOTS),
      MAX_OPEN_PER_KEY: String(2 * OPEN),
      GAS_BUDGET_PER_HOUR: '10000',
    },
  });
  org = await world.createOrganization();
  account = await makeAccount(world.http, org, { networkIds: [STEADY_ID, HALTED_ID] });
  const policies = [STEADY_ID, HALTED_ID].map((id) => sending(id, { name: `On ${id}` }));
  const [steadyPolicy, haltedPolicy] = await makePolicies(world.http, org, ...policies);
  onSteady = { networkId: STEADY_ID, policy: steadyPolicy };
  onHalted = { networkId: HALTED_ID, policy: haltedPolicy };
  for (const url of [steady?.rpcUrl ?? '', halted.current.rpcUrl])
    await fundOnLocalChain(url, account.address);
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await halted?.stop();
});

/** A transfer of 1 wei. */
function bodyOf({ networkId, policy }: On) {
  return aTransactionBody(org, { account, policy, to: anAddress() }, { networkId });
}

/** The answer comes when it has ended, 10 s later at most. */
function execute(transaction: Shown): Promise<Shown> {
  return signed(world.http, org, transaction, org.dave, 'initiator', { execute: true });
}

/** Makes payments on the steady network, one after the other. Returns how long each took, in milliseconds. */
async function timePayments(): Promise<number[]> {
  const times: number[] = [];
  while (times.length < PAYMENTS) {
    const transaction = await createTransaction(world.http, org, bodyOf(onSteady));
    const begunAt = performance.now();
    expect((await execute(transaction)).executionStatus).toBe('completed');
    times.push(performance.now() - begunAt);
  }
  return times;
}

/** Asks for the executions of many transactions on the halted network. Each is answered after 10 s; some are made at once. */
async function openAll(): Promise<Shown[]> {
  const answers: Promise<Shown>[] = [];
  let made = 0;
  const maker = async () => {
    while (made < OPEN) {
      made += 1;
      const body = bodyOf(onHalted);
      answers.push(execute(await createTransaction(world.http, org, body)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, maker));
  return Promise.all(answers);
}

/** How many transactions of the halted network have been sent, and are in no block. */
async function inFlight(): Promise<number> {
  const [row] = await world
    .db('chain_envelopes')
    .where({ network_id: BigInt(HALTED_ID), outcome: null })
    .whereNotNull('sent_at')
    .count({ count: '*' });
  return Number(row?.count);
}

test('a network without new blocks holds up no other one, however many wait for it', async () => {
  const before = await timePayments();
  await rpc(halted.current.rpcUrl, 'evm_setAutomine', [false]);
  const open = await openAll();
  expect(open.filter(({ executionStatus }) => executionStatus !== 'processing')).toEqual([]);
  await until('all have been sent', async () => (await inFlight()) === OPEN, 600_000);

  const { p50: meanwhileMs } = sampleOf(await timePayments());
  expect(await inFlight()).toBe(OPEN);

  await rpc(halted.current.rpcUrl, 'evm_setAutomine', [true]);
  await rpc(halted.current.rpcUrl, 'anvil_mine', ['0x20']);
  for (const { id } of open) {
    const ended = await settledTransaction(world.http, org, { id });
    expect(ended.executionStatus).toBe('completed');
  }
  const { p50: otherwiseMs } = sampleOf([...before, ...(await timePayments())]);
  console.info(
    `${OPEN} open on a halted network: a payment elsewhere takes ${Math.round(meanwhileMs)} ms, ${Math.round(otherwiseMs)} ms otherwise`,
  );
}, 2_400_000);
