import { mapLimit } from '../../src/mapLimit';
import { sampleOf } from '../bench/figures';
import { makeAccount, type Shown } from '../support/api';
import { anAddress } from '../support/builders';
import { startRpcProxy } from '../support/rpcProxy';
import type { TestOrganization } from '../support/service';
import { fundOnLocalChain, networksFile, sharedStack, startOwnChain } from '../support/stack';
import {
  aTransactionBody,
  createTransaction,
  executeTransaction,
  makePolicies,
  settledTransaction,
  signed,
} from '../support/transactionApi';
import { sending } from '../workflows/transactionWorld';
import { startWorld, type World } from '../workflows/world';

const STEADY_ID = 31_337;
const SICK_ID = 41_082;
const MADE_AT_ONCE = 4;
/** Payments on the steady network, whose median is shown. */
const PAYMENTS = 30;
/** Executions on the sick network at once. */
const OPEN = 50;

/** What the endpoint of the sick network does with a request. */
type Treat = (method: string, pass: () => Promise<string>) => Promise<string | undefined>;

const well: Treat = (_, pass) => pass();

const slow: Treat = async (_, pass) => {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return pass();
};

/** Half of the time its newest block is one that there is not. */
const lying: Treat = async (method, pass) => {
  const truth = await pass();
  if (!['eth_blockNumber', 'eth_getBlockByNumber'].includes(method) || Math.random() < 0.5) return truth;
  const { id, result } = JSON.parse(truth);
  // A block that it does not have yet.
  if (result === null) return truth;
  const later = (number: string) => `0x${(BigInt(number) + 1_000_000n).toString(16)}`;
  const lie = typeof result === 'string' ? later(result) : { ...result, number: later(result.number) };
  return JSON.stringify({ jsonrpc: '2.0', id, result: lie });
};

/** One of three requests is refused, one of three gets no answer. */
const failing: Treat = async (_, pass) => {
  const chance = Math.random();
  if (chance < 1 / 3) return undefined;
  if (chance > 2 / 3) return pass();
  const { id } = JSON.parse(await pass());
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'internal error' } });
};

interface On {
  readonly networkId: number;
  readonly policy: Shown;
}

let treat = well;
let sick: Awaited<ReturnType<typeof startOwnChain>>;
let proxy: Awaited<ReturnType<typeof startRpcProxy>>;
let world: World;
let org: TestOrganization;
let account: Shown;
let onSteady: On;
let onSick: On;

beforeAll(async () => {
  sick = await startOwnChain(SICK_ID);
  proxy = await startRpcProxy(sick.current.rpcUrl, (body, pass) => treat(JSON.parse(body).method, pass));
  const steady = sharedStack().chains.find(({ chainId }) => chainId === STEADY_ID);
  const file = networksFile([
    { id: STEADY_ID, name: 'Steady', rpcUrl: steady?.rpcUrl },
    { id: SICK_ID, name: 'Sick', rpcUrl: proxy.url },
  ]);
  world = await startWorld({ env: { NETWORKS_FILE: file, GAS_BUDGET_PER_HOUR: '10000' } });
  org = await world.createOrganization();
  account = await makeAccount(world.http, org, { networkIds: [STEADY_ID, SICK_ID] });
  const condition = sending(STEADY_ID).tokenTransferCondition;
  const policies = [STEADY_ID, SICK_ID].map((id) =>
    sending(id, {
      name: `On ${id}`,
      tokenTransferCondition: { ...condition, amountThreshold: '100000' },
    }),
  );
  const [steadyPolicy, sickPolicy] = await makePolicies(world.http, org, ...policies);
  onSteady = { networkId: STEADY_ID, policy: steadyPolicy };
  onSick = { networkId: SICK_ID, policy: sickPolicy };
  for (const url of [steady?.rpcUrl ?? '', sick.current.rpcUrl]) await fundOnLocalChain(url, account.address);
}, 120_000);
afterAll(async () => {
  treat = well;
  await world?.stop();
  await proxy?.stop();
  await sick?.stop();
});

function create({ networkId, policy }: On): Promise<Shown> {
  return createTransaction(
    world.http,
    org,
    aTransactionBody(org, { account, policy, to: anAddress() }, { networkId }),
  );
}

/** The answer comes when it has ended, 10 s later at most. */
function execute(transaction: Shown): Promise<Shown> {
  return signed(world.http, org, transaction, org.dave, 'initiator', { execute: true });
}

/** Makes payments on the steady network, one after the other. Returns how long each took, in milliseconds. */
async function timePayments(): Promise<number[]> {
  const times: number[] = [];
  while (times.length < PAYMENTS) {
    const transaction = await create(onSteady);
    const begunAt = performance.now();
    expect((await execute(transaction)).executionStatus).toBe('completed');
    times.push(performance.now() - begunAt);
  }
  return times;
}

/** Executes transactions on the sick network. Returns them with the answers, when those come. */
async function executeMany(count: number): Promise<{ id: string; answer: Promise<Shown> }[]> {
  const made: { id: string; answer: Promise<Shown> }[] = [];
  await mapLimit(MADE_AT_ONCE, Array.from({ length: count }), async () => {
    const transaction = await create(onSick);
    made.push({ id: transaction.id, answer: execute(transaction) });
  });
  return made;
}

/** An execution that has failed because the network was unavailable is retried. */
async function expectPaid(id: string): Promise<void> {
  let shown = await settledTransaction(world.http, org, { id });
  if (shown.executionStatus === 'failed') {
    expect(shown.failure.code).toBe('rpc');
    await executeTransaction(world.http, org, { id });
    shown = await settledTransaction(world.http, org, { id });
  }
  expect(shown.executionStatus).toBe('completed');
}

const sicknesses: readonly (readonly [how: string, treat: Treat])[] = [
  // What as many executions on a healthy network cost the others.
  ['is well', well],
  ['answers in 3 s', slow],
  ['lies about its newest block', lying],
  ['fails at random', failing],
];

test.each(sicknesses)(
  'payments on another network go on while one %s, and those of that one are paid too',
  async (how, way) => {
    const before = await timePayments();
    treat = way;
    const made = await executeMany(OPEN);
    const during = await timePayments();
    treat = well;
    await Promise.all(made.map(({ answer }) => answer));
    for (const { id } of made) await expectPaid(id);
    const after = await timePayments();
    const { p50: sickMs } = sampleOf(during);
    const { p50: wellMs } = sampleOf([...before, ...after]);
    console.info(
      `${OPEN} open on a network that ${how}: a payment elsewhere takes ${Math.round(sickMs)} ms, ${Math.round(wellMs)} ms otherwise`,
    );
  },
  900_000,
);
